import type { ComponentChildren } from 'preact';
import type { Scope } from '#client/index.js';
import { SCOPE_TEXTS } from './key-row.js';

interface ScopesProps {
  readonly hint: ComponentChildren;
  readonly offered: readonly Scope[];
  readonly value: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}

export function ScopesField({ hint, offered, value, onChange }: ScopesProps) {
  return (
    <fieldset class="field">
      <legend>Scopes</legend>
      {offered.map((scope) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={value.includes(scope)}
            onChange={({ currentTarget: { checked } }) => {
              onChange(offered.filter((one) => (one === scope ? checked : value.includes(one))));
            }}
          />
          <span>
            {SCOPE_TEXTS[scope]} <code class="sub">{scope}</code>
          </span>
        </label>
      ))}
      <p class="hint">{hint}</p>
    </fieldset>
  );
}
