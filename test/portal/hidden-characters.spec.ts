import { nameHidden } from '../../apps/portal/text/hidden-characters.js';

describe('A text of others in the portal', () => {
  it.each([
    ['gnp.\u202eexe', 'gnp.⟨U+202E⟩exe'],
    ['\u2066a\u2069 \u200e\u200f\u061c', '⟨U+2066⟩a⟨U+2069⟩ ⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩'],
    ['a\u{e0041}\u{e007f}', 'a⟨U+E0041⟩⟨U+E007F⟩'],
    ['\u0000\u001b[2J\u007f\u0085\u009b', '⟨U+0000⟩⟨U+001B⟩[2J⟨U+007F⟩⟨U+0085⟩⟨U+009B⟩'],
    ['\u2028\ufeff\u200b', '⟨U+2028⟩⟨U+FEFF⟩⟨U+200B⟩'],
  ])('%j has its hidden characters named', (text, expected) => {
    expect(nameHidden(text)).toBe(expected);
  });

  it.each(['two\r\n\tlines', 'שלום', 'مرحبا', '👩‍👩‍👧😀', 'na\u00efve \u00a0 \u200d\ufe0f', ''])(
    '%j is as it was',
    (text) => {
      expect(nameHidden(text)).toBe(text);
    },
  );
});
