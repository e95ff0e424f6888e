import type { Clock } from '#kernel/clock.js';
import type { Endpoints, StoredSecret } from './endpoints.js';
import { RotateSecret } from './rotate-secret.js';
import { SecretBox } from './secret-box.js';
import { formatSecret } from '../sending/signatures.js';

const AT = new Date('2026-11-21T09:30:00Z');
const seconds = (count: number) => new Date(AT.getTime() + count * 1_000);

describe('RotateSecret', () => {
  const box = new SecretBox([Buffer.alloc(32)]);
  const secret = (expiresAt: Date | null): StoredSecret => ({ sealed: box.seal(Buffer.alloc(32), 'ep_1'), expiresAt });

  const headers = box.seal(Buffer.from('{}'), 'ep_1 headers');

  /** What is stored after a rotation of these. */
  async function rotate(before: readonly StoredSecret[], graceSeconds: number) {
    let after: readonly StoredSecret[] = [];
    const endpoints: Pick<Endpoints, 'updateSealed'> = {
      updateSealed: (_accountId, id, change) => {
        const sealed = change({ secrets: before, headers });
        expect(sealed.headers).toBe(headers);
        after = sealed.secrets;
        return Promise.resolve(id === 'ep_1');
      },
    };
    const clock: Clock = { now: () => AT };
    const shown = await new RotateSecret(endpoints as Endpoints, box, clock).execute('acct_1', 'ep_1', graceSeconds);
    const [current, ...old] = after;
    if (current === undefined) throw new Error('No secret is stored.');
    expect(current.expiresAt).toBeNull();
    expect(formatSecret(box.open(current.sealed, 'ep_1'))).toBe(shown);
    return old;
  }

  it.each([
    ['ends the old one at once without a grace period', [null], 0, []],
    ['ends the old one with the grace period', [null], 60, [seconds(60)]],
    ['gives no older one more time', [null, seconds(30), seconds(90)], 60, [seconds(60), seconds(30), seconds(60)]],
    ['forgets those that have expired', [null, seconds(0), seconds(-1)], 60, [seconds(60)]],
    ['keeps the newest four', [null, ...[1, 2, 3, 4, 5].map(seconds)], 60, [60, 1, 2, 3].map(seconds)],
  ])('%s', async (_what, before, graceSeconds, expected) => {
    const secrets = before.map(secret);
    const old = await rotate(secrets, graceSeconds);
    expect(old.map(({ expiresAt }) => expiresAt)).toEqual(expected);
    expect(old.map(({ sealed }) => sealed)).toEqual(secrets.slice(0, old.length).map(({ sealed }) => sealed));
  });
});
