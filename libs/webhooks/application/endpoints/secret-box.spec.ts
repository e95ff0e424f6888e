import { randomBytes } from 'node:crypto';
import { SecretBox } from './secret-box.js';

describe('SecretBox', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const secret = randomBytes(32);

  it('opens what it has sealed, each time differently', () => {
    const box = new SecretBox([first]);
    const sealed = [box.seal(secret, 'ep_1'), box.seal(secret, 'ep_1')];
    expect(sealed.map((one) => box.open(one, 'ep_1'))).toEqual([secret, secret]);
    expect(sealed[0]?.box).not.toBe(sealed[1]?.box);
    expect(Buffer.from(sealed[0]?.box ?? '', 'base64').includes(secret)).toBe(false);
  });

  it('seals with the first key, and opens with all', () => {
    const old = new SecretBox([first]).seal(secret, 'ep_1');
    const box = new SecretBox([second, first]);
    expect(box.open(old, 'ep_1')).toEqual(secret);
    expect(box.seal(secret, 'ep_1').keyId).toBe(box.keyIds[0]);
    expect(box.keyIds).toEqual([new SecretBox([second]), new SecretBox([first])].flatMap(({ keyIds }) => keyIds));
  });

  it('opens nothing without the key, for another owner, or that was changed', () => {
    const box = new SecretBox([first]);
    const sealed = box.seal(secret, 'ep_1');
    expect(() => new SecretBox([second]).open(sealed, 'ep_1')).toThrow(`does not contain the key ${sealed.keyId}`);
    expect(() => box.open(sealed, 'ep_2')).toThrow();
    const bytes = Buffer.from(sealed.box, 'base64');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open({ ...sealed, box: changed.toString('base64') }, 'ep_1')).toThrow();
    }
    expect(() => box.open({ ...sealed, box: bytes.subarray(0, 20).toString('base64') }, 'ep_1')).toThrow();
  });
});
