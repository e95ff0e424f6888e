import type { Command } from 'commander';
import { SluiceError, type Account, type AccountResource, type Sluice } from '#client/index.js';
import { withExamples } from '../input/arguments.js';
import { readAtMost, standardInput } from '../input/streams.js';
import { validKey, variable, type Context } from '../support/context.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import { planLine, time } from '../support/output.js';
import { visible } from '../support/visible.js';
import { askSecret, isInteractive } from '../support/prompts.js';

export function addLogin(program: Command, context: Context): void {
  const login = program
    .command('login')
    .description('Check an API key and keep it for the next commands')
    .option('--operator', "log in with the operators' key")
    .action((options: { operator?: true }) => logIn(options.operator === true, context));
  withExamples(
    login,
    'sluice login',
    'sluice login < .data/dev-key',
    'sluice login --base-url https://sluice.example.com',
  );
  login.addHelpText(
    'after',
    '\nThe key is taken from SLUICE_API_KEY (SLUICE_ADMIN_API_KEY with --operator) if that is set. Otherwise it is asked for,\n' +
      'or read from standard input. It is never an argument, because other users of the machine can see those.',
  );

  program
    .command('logout')
    .description('Forget the keys of a service. They stay valid: revoke them with sluice keys revoke')
    .action(() => {
      const { credentials, baseUrl, output } = context;
      const forgotten = credentials.forget(baseUrl);
      output.result({ baseUrl, loggedOut: forgotten }, () =>
        forgotten ? `Logged out of ${baseUrl}.` : `You were not logged in to ${baseUrl}.`,
      );
    });

  program
    .command('whoami')
    .description('Show your API key and its account')
    .action(async () => {
      const { output, baseUrl, keySource } = context;
      const { account } = context.sluice();
      const apiKey = await account.keys.current();
      const own = await visibleAccount(account);
      output.result({ baseUrl, key: keySource, apiKey, account: own }, () =>
        output.fields({
          ...(own !== null && {
            Account: `${own.name} (${own.id})`,
            Plan: planLine(own),
            Delivery: own.paused ? `${own.delivery}, paused` : own.delivery,
          }),
          Service: baseUrl,
          Key: `${apiKey.name} (${apiKey.id}), from ${keySource}`,
          Scopes: apiKey.scopes.join(' '),
          Expires: apiKey.expiresAt === null ? 'never' : time(apiKey.expiresAt),
        }),
      );
    });
}

async function logIn(isOperator: boolean, context: Context): Promise<void> {
  const { baseUrl, credentials, output } = context;
  const name = isOperator ? 'SLUICE_ADMIN_API_KEY' : 'SLUICE_API_KEY';
  const set = variable(name);
  const question = `${isOperator ? "Operators' key" : 'API key'} for ${baseUrl}`;
  const apiKey = set === undefined ? validKey(await readKey(question), 'This') : validKey(set, name);
  const sluice = context.clientWith(apiKey);
  const account = isOperator ? await checkOperator(sluice) : await checkKey(sluice);
  credentials.save(baseUrl, isOperator ? { operatorKey: apiKey } : { apiKey });
  credentials.select(baseUrl);
  output.result(
    { baseUrl, account },
    () => `Logged in to ${baseUrl}${account === null ? '' : ` as ${visible(account.name)}`}.`,
  );
  if (set !== undefined) output.note(`The key is from ${name}. Standard input is not read.`);
}

const MAX_KEY_BYTES = 4_096;

async function readKey(question: string): Promise<string> {
  if (isInteractive()) return (await askSecret(question)).trim();
  const key = (await readAtMost(standardInput(), MAX_KEY_BYTES)).toString().trim();
  if (key === '') throw new CliError('There is no key on standard input.', EXIT.usage);
  return key;
}

/** @returns the account; null if the key is valid but may not see it */
async function checkKey(sluice: Sluice): Promise<{ id: string; name: string } | null> {
  const account = await visibleAccount(sluice.account);
  return account === null ? null : { id: account.id, name: account.name };
}

async function visibleAccount(account: AccountResource): Promise<Account | null> {
  try {
    return await account.get();
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'insufficient_scope') return null;
    throw error;
  }
}

async function checkOperator(sluice: Sluice): Promise<null> {
  await sluice.admin.bans.list({ limit: 1 }).page();
  return null;
}
