/**
 * TypeIDs: a prefix, an underscore and a UUID as 26 characters of Crockford's base32 in lower case.
 * Source: https://github.com/jetify-com/typeid, specification 0.3.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Bytes as base32, five bits a character; `bytes.length * 8 + leadingBits` must be a multiple of 5. */
export function base32(bytes: Uint8Array, leadingBits = 0): string {
  let text = '';
  let buffer = 0;
  let bits = leadingBits;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((buffer >>> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  return text;
}

/** `encodeTypeId('msg', <16 bytes>)` → `msg_01h455vb4pex5vsknk084sn02q`. */
export function encodeTypeId(prefix: string, uuid: Uint8Array): string {
  return `${prefix}_${base32(uuid, 2)}`;
}

/** Whether a text is a TypeID with this prefix. */
export function isTypeId(prefix: string, id: string): boolean {
  return id.startsWith(`${prefix}_`) && SUFFIX.test(id.slice(prefix.length + 1));
}
