import { execFileSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { describeUnless } from '../../../../test/support/skipping.js';
import { formatSecret, newSecret, signedHeaders } from './signatures.js';

const BODY = '{"type":"message","data":{"message":"Grüße 💌 \\u0000"}}';
const ID = 'msg_01h455vb4pex5vsknk084sn02q';

/** The Python interpreter, and why it cannot verify. */
function python(): { readonly command: string; readonly missing: string | null } {
  const command = process.env.PYTHON ?? 'python3';
  try {
    execFileSync(command, ['-c', 'import standardwebhooks'], { stdio: 'pipe' });
    return { command, missing: null };
  } catch {
    return { command, missing: `${command} lacks standardwebhooks: pip install standardwebhooks==1.1.0` };
  }
}

const VERIFY = `
import json, sys
from standardwebhooks.webhooks import Webhook
secret, body, headers = json.load(sys.stdin)
Webhook(secret).verify(body, headers)
`;

const { command, missing } = python();

describe('Signatures', () => {
  it('are those of the specification', () => {
    // The test vector of the reference libraries.
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const at = new Date(1_614_265_330_999);
    const headers = signedHeaders([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, '{"test": 2432232314}');
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  describe.each([
    [
      'the public library for Node.js',
      describe,
      (secret: string, headers: Headers) => {
        new Webhook(secret).verify(BODY, { ...headers });
      },
    ],
    [
      'the public library for Python',
      describeUnless(missing),
      (secret: string, headers: Headers) => {
        execFileSync(command, ['-c', VERIFY], { input: JSON.stringify([secret, BODY, headers]), stdio: 'pipe' });
      },
    ],
  ] as const)('are verified by %s', (_name, run, verify) => {
    run('', () => {
      it('with each of the secrets', () => {
        const secrets = [newSecret(), newSecret()];
        const headers = signedHeaders(secrets, ID, new Date(), BODY);
        for (const secret of secrets) {
          expect(() => {
            verify(formatSecret(secret), headers);
          }).not.toThrow();
        }
      });

      it('and not with another secret, id or time', () => {
        const secret = newSecret();
        const headers = signedHeaders([secret], ID, new Date(), BODY);
        for (const [other, changed] of [
          [newSecret(), {}],
          [secret, { 'webhook-id': `${ID}0` }],
          [secret, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }],
        ] as const) {
          expect(() => {
            verify(formatSecret(other), { ...headers, ...changed });
          }).toThrow();
        }
      });
    });
  });
});

type Headers = Readonly<Record<string, string>>;
