import { Option, type Command } from 'commander';
import { filled, integer, withExamples } from '../input/arguments.js';
import { parseBaseUrl, parseReceiverUrl, requireUsablePort } from '../input/urls.js';
import type { Context } from '../support/context.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import type { VerifyOptions } from '../verify/verify.js';

/** The command that checks the guarantees from outside. */
export function addVerify(program: Command, context: Context): void {
  const verify = program
    .command('verify')
    .description('Send messages for a while, and compare the responses with what is stored and delivered')
    .option(
      '--url <url>',
      'the service (--base-url, SLUICE_BASE_URL, or http://127.0.0.1:3000; never that of the last login); repeat it for several addresses of one',
      collect,
    )
    .option('--duration <seconds>', 'how long to send (30; with --resume 0)', integer(0, 86_400))
    .option('--callers <n>', 'concurrent callers', integer(1, 1_024), 32)
    .option('--rate <n>', 'requests a second, of all callers together', integer(1, 100_000), 500)
    .option('--messages <n>', 'maximum number of messages', integer(1, 1_000_000), 50_000)
    .option('--settle <seconds>', 'how long to wait for outstanding responses and deliveries', integer(0, 86_400), 120)
    .addOption(
      new Option('--consume <how>', 'pull the messages, or get them as an endpoint, instead of leaving them to workers')
        .choices(['pull', 'webhooks'])
        .conflicts('resume'),
    )
    .option(
      '--receive <url>',
      'the URL by which the service reaches it, with --consume webhooks (a free port of this machine)',
    )
    .option('--ledger <file>', 'the file to record responses in (a new temporary file)', filled)
    .option(
      '--resume',
      'continue with the ledger of a killed run: repeat unknown outcomes, pull if it did, then compare',
    )
    .addHelpText('after', '\nExit codes: 0 every guarantee was kept, 1 one was broken, 2 the result is inconclusive.')
    .action(async (options: Omit<VerifyOptions, 'urls' | 'apiKey'> & { url?: string[] }) => {
      if (options.resume === true && options.ledger === undefined) {
        verify.error('error: --resume requires --ledger, the file to continue with');
      }
      if (options.receive !== undefined && options.consume !== 'webhooks') {
        verify.error('error: --receive requires --consume webhooks');
      }
      const { output } = context;
      const urls = (options.url ?? [context.baseUrlForLoad]).map((url) => parseBaseUrl(url, '--url'));
      const [first = ''] = urls;
      const receive = options.receive === undefined ? undefined : parseReceiverUrl(options.receive, '--receive');
      const apiKey = context.apiKeyFor(first);
      for (const url of urls) requireUsablePort(url, '--url');
      const { verify: run } = await import('../verify/verify.js');
      const { verdict, text, json } = await run({ ...options, receive, urls, apiKey }, (line) => {
        output.note(line);
      }).catch((error: unknown) => {
        throw new CliError(error instanceof Error ? error.message : String(error), EXIT.usage);
      });
      output.result(json, () => text);
      process.exitCode = { kept: EXIT.ok, broken: EXIT.failed, unknown: EXIT.usage }[verdict];
    });
  withExamples(verify, 'sluice verify --duration 60', 'sluice verify --resume --ledger run.ndjson');
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}
