import type { ComponentChildren } from 'preact';
import { Field } from './field.js';

interface ChoiceProps<Value> {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

/** One of a few values. */
export function Choice<Value extends string | number>({ value, choices, onChange, ...field }: ChoiceProps<Value>) {
  return (
    <Field {...field}>
      {(tied) => (
        <select
          {...tied}
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = choices[currentTarget.selectedIndex];
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
