import fc from 'fast-check';
import { MAX_TEXT_BYTES, textFault } from './message-text.js';

const tooLong = `message must be at most ${MAX_TEXT_BYTES} bytes of UTF-8.`;

describe('textFault', () => {
  it.each(['x', ' ', '\n', '\ufeff', 'é', 'e\u0301', '💌', '\u0001', '\uffff'])('takes %j as it is', (text) => {
    expect(textFault(text)).toBeNull();
  });

  it('refuses an empty text', () => {
    expect(textFault('')).toBe('message must not be empty.');
  });

  it.each(['\u0000', 'before\u0000', '\u0000after'])('refuses U+0000 in %j', (text) => {
    expect(textFault(text)).toBe('message must not contain U+0000.');
  });

  it.each(['\ud83d', 'a\udc8c', '\udc8c\ud83d'])('refuses the lone surrogate in %j', (text) => {
    expect(textFault(text)).toBe('message must not contain lone surrogates.');
  });

  it.each([
    ['1 byte', 'x'],
    ['2 bytes', 'é'],
    ['3 bytes', '€'],
    ['4 bytes', '💌'],
  ])('counts characters of %s in bytes', (_, character) => {
    const most = character.repeat(MAX_TEXT_BYTES / Buffer.byteLength(character));
    const filler = 'x'.repeat(MAX_TEXT_BYTES - Buffer.byteLength(most));
    expect(textFault(most + filler)).toBeNull();
    expect(textFault(`${most}${filler}x`)).toBe(tooLong);
  });

  it('finds a fault exactly where UTF-8 can not carry a text of allowed length there and back', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }), (text) => {
        const comesBack = Buffer.from(text).toString() === text;
        expect(textFault(text) === null).toBe(text !== '' && !text.includes('\u0000') && comesBack);
      }),
    );
  });
});
