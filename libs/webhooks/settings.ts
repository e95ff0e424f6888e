import type { Environment, Format } from '#platform/process/environment.js';

const SECRETS_KEYS: Format<Buffer[]> = {
  expected: 'keys of 32 bytes in Base64 or hexadecimal, separated by commas, as `openssl rand -base64 32` prints one',
  parse: (text) => {
    const keys = text.split(',').map((part) => keyIn(part.trim()));
    return keys.every((key) => key.length === 32) ? keys : undefined;
  },
  secret: true,
};

/** The waits before the second and each further attempt: three days and a few hours in all. */
const DEFAULT_RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
const RETRY_SECONDS: Format<number[]> = {
  expected: '1 to 30 whole numbers from 0 to 604,800, separated by commas',
  parse: (text) => {
    const waits = text.split(',').map((part) => (/^ *\d{1,6} *$/.test(part) ? Number(part) : Infinity));
    return waits.length <= 30 && waits.every((seconds) => seconds <= 604_800) ? waits : undefined;
  },
};

/** The keys of secrets, and how messages are posted. Times are in milliseconds, but for the waits. */
export function readWebhooksSettings(env: Environment) {
  return {
    /** The first encrypts. Without one, there are no webhooks. */
    secretsKeys: env.read('SECRETS_KEY', [], SECRETS_KEYS),
    webhooks: {
      timeoutMs: env.integer('WEBHOOK_TIMEOUT_MS', 15_000, 100, 60_000),
      retrySeconds: env.read('WEBHOOK_RETRY_SECONDS', DEFAULT_RETRY_SECONDS, RETRY_SECONDS),
      disableAfterMs: 3_600_000 * env.integer('WEBHOOK_DISABLE_AFTER_HOURS', 120, 1, 8_760),
      concurrency: env.integer('WEBHOOK_CONCURRENCY', 200, 10, 5_000),
      allowPrivate: env.oneOf('WEBHOOK_ALLOW_PRIVATE', 'false', ['true', 'false']) === 'true',
    },
  };
}

export type WebhooksSettings = ReturnType<typeof readWebhooksSettings>;

function keyIn(text: string): Buffer {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}
