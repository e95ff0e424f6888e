import { useState } from 'preact/hooks';
import { BASE_URL } from '../../session/connection.js';
import { COMMANDS, LANGUAGES, snippet, type Language } from '../../text/snippets.js';
import { CopyButton } from '../button.js';

/** In the place of a key that is copied. */
export const SHOWN_KEY = 'slc_…';

/** A request to paste. The key is copied with it, but not shown on the screen. */
export function Snippets({ apiKey }: { apiKey: string | null }) {
  const [language, setLanguage] = useState<Language>('curl');
  const text = (key: string) => snippet(language, BASE_URL, key);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = LANGUAGES[(LANGUAGES.indexOf(language) + step + LANGUAGES.length) % LANGUAGES.length] ?? 'curl';
    setLanguage(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="snippets">
      <div class="snippets-bar">
        <div role="tablist" aria-label="Language" onKeyDown={move}>
          {LANGUAGES.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === language}
              aria-controls="snippet"
              tabIndex={name === language ? 0 : -1}
              onClick={() => {
                setLanguage(name);
              }}
            >
              {name}
            </button>
          ))}
        </div>
        <CopyButton text={text(apiKey ?? '<API_KEY>')} what={`request in ${language}`} />
      </div>
      <pre id="snippet" role="tabpanel" aria-labelledby={`tab-${language}`} tabIndex={0}>
        <code>{text(apiKey === null ? '<API_KEY>' : SHOWN_KEY)}</code>
      </pre>
      <p class="hint">
        {COMMANDS[language]}
        {apiKey !== null && ' The copy contains your API key.'}
      </p>
    </div>
  );
}
