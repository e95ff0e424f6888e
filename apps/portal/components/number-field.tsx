import type { ComponentChildren } from 'preact';
import { formatNumber } from '../text/format.js';
import { Field } from './field.js';

interface NumberFieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly min?: number;
  readonly max?: number;
  readonly required?: boolean;
  /** As it was typed. */
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/**
 * For a whole number. A form with something else is not sent. No field of the type `number`: browsers take `20.000` for
 * 20, and what they cannot read for nothing.
 */
export function NumberField(props: NumberFieldProps) {
  const { min = 1, max = Number.MAX_SAFE_INTEGER, required = true, value, onInput, error, ...field } = props;
  const problem = problemOf(value, min, max);
  return (
    <Field {...field} error={problem ?? error}>
      {(tied) => (
        <input
          {...tied}
          ref={(input) => {
            input?.setCustomValidity(problem ?? '');
          }}
          required={required}
          inputMode="numeric"
          autocomplete="off"
          value={value}
          onInput={({ currentTarget }) => {
            onInput(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

/** NaN for what is none. */
export const wholeNumber = (text: string): number => (/^\d+$/.test(text.trim()) ? Number(text) : NaN);

/** An empty field is none: the browser says whether it has to be filled in. */
function problemOf(text: string, min: number, max: number): string | undefined {
  if (text === '') return undefined;
  const number = wholeNumber(text);
  if (Number.isNaN(number)) return 'Write a whole number with digits only, such as 20000.';
  return number < min || number > max ? `It must be from ${formatNumber(min)} to ${formatNumber(max)}.` : undefined;
}
