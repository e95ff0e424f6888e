import { metadataError } from './message-metadata.js';

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, '']));

describe('metadataError', () => {
  it.each([1, true, null, [], {}])('refuses the value %j', (value) => {
    expect(metadataError({ a: value })).toBe('The values of metadata must be strings.');
  });

  it.each([
    ['nothing', {}],
    ['an empty value', { a: '' }],
    ['50 values', many(50)],
    ['a name of 40 characters of two UTF-16 units', { ['💌'.repeat(40)]: 'x' }],
    ['a value of 500 of them', { a: '💌'.repeat(500) }],
    ['names of the prototype', JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as object],
  ])('accepts %s', (_, metadata) => {
    expect(metadataError(metadata as Record<string, unknown>)).toBeNull();
  });

  it.each([
    ['51 values', many(51), 'metadata must have at most 50 values.'],
    ['an empty name', { '': 'x' }, 'The names of metadata must be 1 to 40 characters.'],
    ['a name of 41 characters', { ['x'.repeat(41)]: 'x' }, 'The names of metadata must be 1 to 40 characters.'],
    ['a value of 501', { a: 'x'.repeat(501) }, 'The values of metadata must be at most 500 characters.'],
    ['U+0000 in a name', { 'a\u0000': 'x' }, 'metadata must not contain U+0000 or lone surrogates.'],
    ['U+0000 in a value', { a: '\u0000' }, 'metadata must not contain U+0000 or lone surrogates.'],
    ['a lone surrogate in a name', { '\ud83d': 'x' }, 'metadata must not contain U+0000 or lone surrogates.'],
    ['a lone surrogate in a value', { a: '\udc8c' }, 'metadata must not contain U+0000 or lone surrogates.'],
    ['__proto__ that is no string', JSON.parse('{"__proto__":1}') as object, 'The values of metadata must be strings.'],
  ])('refuses %s', (_, metadata, error) => {
    expect(metadataError(metadata as unknown as Record<string, unknown>)).toBe(error);
  });
});
