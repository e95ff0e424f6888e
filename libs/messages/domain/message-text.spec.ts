import fc from 'fast-check';
import { MAX_TEXT_BYTES, textError } from './message-text.js';

const tooLong = `message must be at most ${MAX_TEXT_BYTES} bytes of UTF-8.`;

describe('textError', () => {
  it.each(['x', ' ', '\n', '\ufeff', 'é', 'e\u0301', '💌', '\u0001', '\uffff'])('accepts %j', (text) => {
    expect(textError(text)).toBeNull();
  });

  it('refuses an empty text', () => {
    expect(textError('')).toBe('message must not be empty.');
  });

  it.each(['\u0000', 'before\u0000', '\u0000after'])('refuses U+0000 in %j', (text) => {
    expect(textError(text)).toBe('message must not contain U+0000.');
  });

  it.each(['\ud83d', 'a\udc8c', '\udc8c\ud83d'])('refuses the lone surrogate in %j', (text) => {
    expect(textError(text)).toBe('message must not contain lone surrogates.');
  });

  it.each([
    ['1 byte', 'x'],
    ['2 bytes', 'é'],
    ['3 bytes', '€'],
    ['4 bytes', '💌'],
  ])('counts characters of %s in bytes', (_, character) => {
    const most = character.repeat(MAX_TEXT_BYTES / Buffer.byteLength(character));
    const filler = 'x'.repeat(MAX_TEXT_BYTES - Buffer.byteLength(most));
    expect(textError(most + filler)).toBeNull();
    expect(textError(`${most}${filler}x`)).toBe(tooLong);
  });

  it('reports an error exactly where UTF-8 cannot carry a text of valid length', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }), (text) => {
        const comesBack = Buffer.from(text).toString() === text;
        expect(textError(text) === null).toBe(text !== '' && !text.includes('\u0000') && comesBack);
      }),
    );
  });
});
