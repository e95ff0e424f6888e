import { createHmac, randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { HeldMessage } from '#client/index.js';
import { integer, withExamples } from '../support/arguments.js';
import { consume, MIN_LEASE_SECONDS, requirePull } from '../support/consumer.js';
import { variable, type Context } from '../support/context.js';
import { CliError, EXIT } from '../support/exit-codes.js';

const PREFIX = 'whsec_';

interface Options {
  readonly forwardTo: string;
  readonly concurrency: number;
  readonly timeout: number;
  readonly limit?: number;
  readonly yes?: true;
}

export function addListen(program: Command, context: Context): void {
  const command = program
    .command('listen')
    .description('Forward messages to a local program as webhooks, until Ctrl-C')
    .requiredOption('-f, --forward-to <url>', 'where to post them, such as localhost:3000/hook')
    .option('-c, --concurrency <n>', 'how many at the same time', integer(1, 100), 4)
    .option('--timeout <seconds>', 'how long the program may take to respond', integer(1, 3_500), 15)
    .option('-n, --limit <n>', 'stop after so many messages', integer(1, 1e15))
    .option('-y, --yes', 'change the delivery mode of the account to pull if it is another one')
    .action(async ({ forwardTo, concurrency, timeout, limit, yes }: Options) => {
      const { output } = context;
      const url = parseUrl(forwardTo);
      await requirePull(context, yes);
      const secret = secretOf(context);
      output.note(`Forwarding to ${url}. Press Ctrl-C to stop.`);
      output.note(`The secret to verify signatures: ${secret}`);
      const leaseSeconds = Math.max(timeout + 30, MIN_LEASE_SECONDS);
      await consume({ context, concurrency, leaseSeconds, limit }, (message, signal) =>
        forward(url, secret, message, AbortSignal.any([signal, AbortSignal.timeout(timeout * 1_000)])),
      );
    });
  withExamples(
    command,
    'sluice listen --forward-to localhost:3000/hook',
    'SLUICE_WEBHOOK_SECRET=whsec_… sluice listen --forward-to localhost:3000/hook',
  );
}

/** Posts a message as the service posts it to endpoints. @returns null if it was accepted, else the reason */
async function forward(url: string, secret: string, message: HeldMessage, signal: AbortSignal) {
  const { id, createdAt } = message;
  const body = JSON.stringify({
    type: 'message',
    timestamp: createdAt,
    data: { id, message: message.message, createdAt },
  });
  const timestamp = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.ok ? null : `status ${response.status}`;
  } catch (error) {
    const { cause, message: reason } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? reason;
  }
}

/** The same at each start, so that the program need not be configured again. */
function secretOf({ baseUrl, credentials }: Context): string {
  const secret = variable('SLUICE_WEBHOOK_SECRET') ?? credentials.entry(baseUrl).listenSecret;
  if (secret !== undefined) {
    if (/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) return secret;
    throw new CliError('SLUICE_WEBHOOK_SECRET must be whsec_ and at least 24 bytes in base64.', EXIT.usage);
  }
  const listenSecret = PREFIX + randomBytes(32).toString('base64');
  credentials.save(baseUrl, { listenSecret });
  return listenSecret;
}

function parseUrl(text: string): string {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') {
    throw new CliError('--forward-to must be a URL like http://localhost:3000/hook, without a password.', EXIT.usage);
  }
  return url.href;
}
