import { UuidV7Ids } from './ids.js';
import { encodeTypeId, isTypeId } from './typeid.js';

describe('TypeID', () => {
  // Vectors of the TypeID specification (valid.yml, invalid.yml).
  it.each([
    ['00000000000000000000000000000000', 'prefix_00000000000000000000000000'],
    ['00000000000000000000000000000020', 'prefix_00000000000000000000000010'],
    ['ffffffffffffffffffffffffffffffff', 'prefix_7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['01890a5dac96774bbcceb302099a8057', 'prefix_01h455vb4pex5vsknk084sn02q'],
  ])('%s is %s', (uuid, id) => {
    expect(encodeTypeId('prefix', Buffer.from(uuid, 'hex'))).toBe(id);
    expect(isTypeId('prefix', id)).toBe(true);
  });

  it.each([
    'prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    'prefix_01H455VB4PEX5VSKNK084SN02Q',
    'prefix_01h455vb4pex5vsknk084sn02',
    'prefix_01h455vb4pex5vsknk084sn02u',
    'other_01h455vb4pex5vsknk084sn02q',
    '',
  ])('%p is none', (id) => {
    expect(isTypeId('prefix', id)).toBe(false);
  });
});

describe('UuidV7Ids', () => {
  it('creates identifiers that sort by their millisecond and never repeat', () => {
    const ids = new UuidV7Ids();
    const created = Array.from({ length: 1000 }, () => ids.next('msg', new Date('2026-11-21T09:30:00.123Z')));
    expect(new Set(created).size).toBe(1000);
    expect(created.every((id) => isTypeId('msg', id))).toBe(true);
    const later = ids.next('msg', new Date('2026-11-21T09:30:00.124Z'));
    expect(created.every((id) => id < later)).toBe(true);
  });

  it('carries version, variant and time where RFC 9562 puts them', () => {
    const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
    const id = new UuidV7Ids().next('msg', new Date(0x0123456789ab));
    const value = Array.from(id.slice(4)).reduce(
      (sum, character) => sum * 32n + BigInt(alphabet.indexOf(character)),
      0n,
    );
    expect(value.toString(16).padStart(32, '0')).toMatch(/^0123456789ab7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  });
});
