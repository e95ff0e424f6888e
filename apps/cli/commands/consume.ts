import { spawn, type ChildProcess } from 'node:child_process';
import type { Command } from 'commander';
import type { HeldMessage } from '#client/index.js';
import { filled, integer, withExamples } from '../input/arguments.js';
import { consume, MIN_LEASE_SECONDS, requirePull } from '../support/consumer.js';
import type { Context } from '../support/context.js';
import type { Output } from '../support/output.js';

interface Options {
  readonly exec: string;
  readonly concurrency: number;
  readonly lease: number;
  readonly limit?: number;
  readonly yes?: true;
}

export function addConsume(program: Command, context: Context): void {
  const command = program
    .command('consume')
    .description('Pull messages and run a command for each, until Ctrl-C')
    .requiredOption(
      '-x, --exec <command>',
      'run by the shell, with the text of the message as its standard input',
      filled,
    )
    .option('-c, --concurrency <n>', 'how many at the same time', integer(1, 100), 1)
    .option(
      '--lease <seconds>',
      'how long nobody else gets a message; renewed while the command runs',
      integer(10, 3_600),
      MIN_LEASE_SECONDS,
    )
    .option('-n, --limit <n>', 'stop after so many messages', integer(1, 1e15))
    .option('-y, --yes', 'change the delivery mode of the account to pull if it is another one')
    .action(async ({ exec, concurrency, lease, limit, yes }: Options) => {
      const { output } = context;
      const onLease = await requirePull(context, yes);
      output.note('Waiting for messages. Press Ctrl-C to stop.');
      await consume({ context, concurrency, leaseSeconds: lease, limit, onLease }, (message, signal) =>
        run(exec, message, output, signal),
      );
    });
  withExamples(
    command,
    "sluice consume --exec 'jq .total'",
    "sluice consume --exec './charge-order.sh' --concurrency 4",
    'sluice consume --limit 1 --exec \'cat; echo "$SLUICE_MESSAGE_ID, attempt $SLUICE_ATTEMPT" >&2\'',
  );
  command.addHelpText(
    'after',
    '\nThe command gets SLUICE_MESSAGE_ID, SLUICE_MESSAGE_CREATED_AT and SLUICE_ATTEMPT in its environment, and if they\n' +
      'were sent, SLUICE_MESSAGE_TYPE, SLUICE_MESSAGE_METADATA (as JSON) and SLUICE_MESSAGE_ORDERING_KEY. Exit code 0\n' +
      'acknowledges the message, any other one rejects it: it is delivered again later.',
  );
}

/** How long a command that is interrupted has to end. */
const GRACE_MS = 5_000;

/** @returns null if the command succeeded, else the reason */
function run(command: string, message: HeldMessage, output: Output, signal: AbortSignal): Promise<string | null> {
  if (signal.aborted) return Promise.resolve('stopped before the command was run');
  let child: ChildProcess;
  try {
    child = start(command, message, output);
  } catch (error) {
    // A message must not keep others from being consumed.
    const { code, message: reason } = error as NodeJS.ErrnoException;
    return Promise.resolve(code === 'E2BIG' ? 'the metadata is too long for an environment variable' : reason);
  }
  let insist: NodeJS.Timeout | undefined;
  const end = () => {
    endGroup(child, 'SIGTERM');
    insist = setTimeout(() => {
      endGroup(child, 'SIGKILL');
    }, GRACE_MS);
  };
  signal.addEventListener('abort', end, { once: true });
  return new Promise((resolve) => {
    child.once('error', ({ message: reason }) => {
      resolve(reason);
    });
    child.once('close', (code, by) => {
      signal.removeEventListener('abort', end);
      clearTimeout(insist);
      resolve(code === 0 ? null : by === null ? `exit code ${code ?? 0}` : `ended by ${by}`);
    });
    // A command need not read its input.
    child.stdin?.on('error', () => undefined).end(message.message);
  });
}

function start(command: string, message: HeldMessage, output: Output): ChildProcess {
  return spawn(command, {
    shell: true,
    // With --json, standard output has a document for each message, and nothing else.
    stdio: ['pipe', output.isJson ? 2 : 'inherit', 'inherit'],
    // A group of its own: Ctrl-C in the terminal must let it finish.
    detached: true,
    env: {
      ...process.env,
      SLUICE_MESSAGE_ID: message.id,
      SLUICE_MESSAGE_CREATED_AT: message.createdAt,
      SLUICE_ATTEMPT: String(message.attempt),
      ...(message.type !== undefined && { SLUICE_MESSAGE_TYPE: message.type }),
      ...(message.metadata !== undefined && { SLUICE_MESSAGE_METADATA: JSON.stringify(message.metadata) }),
      ...(message.orderingKey !== undefined && { SLUICE_MESSAGE_ORDERING_KEY: message.orderingKey }),
    },
  });
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}
