import fc from 'fast-check';

/** As fast-check's unit `binary`, which takes a second to build a table of all characters. */
export const anyCharacter = fc
  .nat(0x10ffff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => character.isWellFormed());

/** Any text that can be a message, with what encodings, arrays and quoting trip over. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 200 }).map((text) => text.replaceAll('\u0000', '0')),
  fc.constantFrom(
    'NULL',
    '{}',
    '{"a",b}',
    '\\',
    '\\\\x00',
    '"',
    "'",
    '\r\n',
    ' ',
    '\ufeff',
    '\u202e',
    'é',
    'e\u0301',
    '💌',
  ),
);
