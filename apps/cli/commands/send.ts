import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { MAX_TEXT_BYTES } from '../batch/lines.js';
import { sendBatch, type BatchOptions } from '../batch/send-batch.js';
import { filled, integer, readable, visibleAscii, withExamples } from '../input/arguments.js';
import { readAtMost, standardInput } from '../input/streams.js';
import { addFieldOptions, fieldsOf } from '../input/message-fields.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import { stopSignal } from '../support/signals.js';
import { visible } from '../support/visible.js';

interface Options extends BatchOptions {
  readonly idempotencyKey?: string;
  readonly batch?: true;
}

const BATCH_OPTIONS = ['jsonl', 'batch-size', 'from-line', 'state', 'restart'];

export function addSend(program: Command, context: Context): void {
  const command = program
    .command('send')
    .description('Send a message, or with --batch one for each line of a file')
    .argument('[message]', 'the text; without it, or with -, standard input is sent as it is')
    .option('-f, --file <path>', 'send the content of a file', filled)
    .addOption(timeOption('--deliver-at <time>', 'deliver at this time, up to 30 days ahead'));
  addFieldOptions(command)
    .option('--idempotency-key <key>', 'a repetition with the same key creates no second message', visibleAscii)
    .option('--batch', 'send each line of the file or of standard input as a message; empty lines are left out')
    .option(
      '--jsonl',
      'each line is JSON: a string, or an object with the fields of a message; so is a file named *.jsonl',
    )
    .option(
      '--batch-size <n>',
      'messages a request (a quarter of the limit per minute, at most 500)',
      integer(1, 1_000),
    )
    .option('--from-line <n>', 'leave out the lines before this one', integer(1, 1e15))
    .option(
      '--state <path>',
      'keep the progress in this file, so that a run from standard input can be continued',
      filled,
    )
    .option('--restart', 'forget an interrupted run and start with the first line')
    .action(async (message: string | undefined, options: Options) => {
      if (options.batch === true && options.idempotencyKey !== undefined) {
        command.error('error: --batch makes idempotency keys of its own: leave out --idempotency-key');
      }
      if (options.batch === true) return sendBatch(message, options, context);
      const batchOnly = command.options.find(
        (option) => BATCH_OPTIONS.includes(option.name()) && options[option.attributeName() as keyof Options],
      );
      if (batchOnly !== undefined) command.error(`error: --${batchOnly.name()} requires --batch`);
      if (message !== undefined && options.file !== undefined)
        command.error('error: name a message or a file, not both');
      return sendOne(message, options, context);
    });
  withExamples(
    command,
    "sluice send 'Order 4711 is paid'",
    "sluice send 'Order 4711 is paid' --type order.paid --metadata region=eu --metadata total=12",
    "sluice send 'Good morning' --deliver-at 2026-11-22T07:00:00Z",
    'jq -c .order invoice.json | sluice send',
    'sluice send --batch --file orders.txt --type order.paid',
    'sluice send --batch orders.jsonl',
  );
}

async function sendOne(message: string | undefined, options: Options, context: Context): Promise<void> {
  const { deliverAt, idempotencyKey } = options;
  const sluice = context.sluice();
  const text = sendable(message !== undefined && message !== '-' ? message : decode(await readAll(options.file)));
  const signal = stopSignal();
  const sent = await sluice.messages
    .send(text, { ...fieldsOf(options), deliverAt, idempotencyKey, signal })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      throw new CliError('Interrupted. Whether the message is stored is unknown.', EXIT.interrupted);
    });
  context.output.result(sent, () => visible(sent.id));
  if (context.output.isTerminal)
    context.output.success(deliverAt === undefined ? 'Queued' : `Scheduled for ${deliverAt}`);
}

/** What no service accepts costs no request. */
function sendable(text: string): string {
  if (text === '') throw new CliError('The message is empty.', EXIT.usage);
  if (text.includes('\0')) throw new CliError('A message cannot contain the character NUL.', EXIT.usage);
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw tooLong();
  return text;
}

function tooLong(): CliError {
  return new CliError(`A message has at most ${MAX_TEXT_BYTES.toLocaleString('en-US')} bytes.`, EXIT.usage);
}

/** Of one that is too long, enough to know. */
async function readAll(file: string | undefined): Promise<Buffer> {
  if (file !== undefined && file !== '-') {
    return readable(file, () => readAtMost(createReadStream(file), MAX_TEXT_BYTES + 1));
  }
  if (process.stdin.isTTY) throw new CliError('There is no message: name one, or pipe it in.', EXIT.usage);
  return readAtMost(standardInput(), MAX_TEXT_BYTES + 1);
}

function decode(bytes: Buffer): string {
  if (bytes.length > MAX_TEXT_BYTES) throw tooLong();
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError('The message is not valid UTF-8: encode it, for example as base64.', EXIT.usage);
  }
}
