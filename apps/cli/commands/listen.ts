import { createHmac, randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { HeldMessage } from '#client/index.js';
import { integer, withExamples } from '../input/arguments.js';
import { parseForwardUrl } from '../input/urls.js';
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
      const url = parseForwardUrl(forwardTo, '--forward-to');
      const onLease = await requirePull(context, yes);
      const secret = secretOf(context);
      output.note(`Forwarding to ${url}. Press Ctrl-C to stop.`);
      output.note(`The secret to verify signatures: ${secret}`);
      const post = await poster(`Sluice/${program.version() ?? ''}`);
      const leaseSeconds = Math.max(timeout + 30, MIN_LEASE_SECONDS);
      await consume({ context, concurrency, leaseSeconds, limit, onLease }, (message, signal) =>
        forward(post, url, secret, message, AbortSignal.any([signal, AbortSignal.timeout(timeout * 1_000)])),
      );
    });
  withExamples(
    command,
    'sluice listen --forward-to localhost:3000/hook',
    'SLUICE_WEBHOOK_SECRET=whsec_… sluice listen --forward-to localhost:3000/hook',
  );
}

interface Request extends Pick<RequestInit, 'body' | 'signal'> {
  readonly headers: Readonly<Record<string, string>>;
}

type Post = (url: string, request: Request) => Promise<{ status: number }>;

/** The global `fetch` would wait for 300 seconds at most. */
async function poster(userAgent: string): Promise<Post> {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  return async (url, request) => {
    const headers = { ...request.headers, 'user-agent': userAgent };
    const response = await fetch(url, {
      ...request,
      headers,
      method: 'POST',
      redirect: 'manual',
      dispatcher,
    } as object);
    await response.body?.cancel();
    return response;
  };
}

/** Posts a message as the service posts it to endpoints. @returns null if it was accepted, else the reason */
async function forward(post: Post, url: string, secret: string, message: HeldMessage, signal: AbortSignal) {
  const { id, message: text, type, metadata, orderingKey, deliverAt, createdAt } = message;
  const data = { id, message: text, deliverAt, type, metadata, orderingKey, createdAt };
  const body = JSON.stringify({ type: type ?? 'message', timestamp: createdAt, data });
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
    const { status } = await post(url, { headers, body, signal });
    return status >= 200 && status < 300 ? null : `status ${status}`;
  } catch (error) {
    const { cause, message: reason } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? reason;
  }
}

/** The same at each start, so that the program need not be configured again. */
function secretOf({ baseUrl, credentials, output }: Context): string {
  const set = variable('SLUICE_WEBHOOK_SECRET');
  const secret = set ?? credentials.entry(baseUrl).listenSecret;
  if (secret !== undefined) {
    if (/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) return secret;
    const source = set === undefined ? `listenSecret in ${credentials.path}` : 'SLUICE_WEBHOOK_SECRET';
    throw new CliError(`${source} must be whsec_ and at least 24 bytes in base64.`, EXIT.usage);
  }
  const listenSecret = PREFIX + randomBytes(32).toString('base64');
  try {
    credentials.save(baseUrl, { listenSecret });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    output.warn(`The next start will make another secret: ${error.message} To keep one, set SLUICE_WEBHOOK_SECRET.`);
  }
  return listenSecret;
}
