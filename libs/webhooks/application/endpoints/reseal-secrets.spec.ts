import type { Endpoints, Sealed } from './endpoints.js';
import { ResealSecrets } from './reseal-secrets.js';
import { openHeaders, sealHeaders } from './sealed-headers.js';
import { SecretBox } from './secret-box.js';

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];

describe('ResealSecrets', () => {
  it.each([null, { Authorization: 'Bearer a', ['__proto__']: 'b' }])(
    'encrypts secrets and the headers %j so that the old key can go',
    async (headers) => {
      const old = new SecretBox([OLD]);
      let stored: Sealed = {
        secrets: [
          { sealed: old.seal(Buffer.from('current'), 'ep_1'), expiresAt: null },
          { sealed: old.seal(Buffer.from('rotated'), 'ep_1'), expiresAt: new Date(0) },
        ],
        headers: headers && sealHeaders(old, headers, 'ep_1'),
      };
      const endpoints: Pick<Endpoints, 'sealedUnderOtherKeys' | 'updateSealed'> = {
        sealedUnderOtherKeys: () => Promise.resolve([{ id: 'ep_1', accountId: 'acct_1' }]),
        updateSealed: (_accountId, _id, change) => {
          stored = change(stored);
          return Promise.resolve(true);
        },
      };
      await new ResealSecrets(endpoints as Endpoints, new SecretBox([NEW, OLD])).execute();
      const box = new SecretBox([NEW]);
      expect(stored.secrets.map(({ sealed, expiresAt }) => [box.open(sealed, 'ep_1').toString(), expiresAt])).toEqual([
        ['current', null],
        ['rotated', new Date(0)],
      ]);
      expect(Object.entries(openHeaders(box, stored.headers, 'ep_1'))).toEqual(Object.entries(headers ?? {}));
    },
  );

  it('opens headers in place of no secret', () => {
    const box = new SecretBox([NEW]);
    const headers = sealHeaders(box, { a: 'b' }, 'ep_1');
    expect(() => headers && box.open(headers, 'ep_1')).toThrow();
  });
});
