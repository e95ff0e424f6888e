import type { ComponentChildren } from 'preact';
import { Field } from '../components/field.js';

interface NumberFieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly min?: number;
  readonly max: number;
  readonly required?: boolean;
  /** NaN while the field is empty. */
  readonly value: number;
  readonly onInput: (value: number) => void;
}

export function NumberField({ min = 1, max, required = true, value, onInput, ...field }: NumberFieldProps) {
  return (
    <Field {...field}>
      {(tied) => (
        <input
          {...tied}
          {...{ type: 'number', required, min, max }}
          value={Number.isNaN(value) ? '' : value}
          onInput={({ currentTarget }) => {
            onInput(currentTarget.valueAsNumber);
          }}
        />
      )}
    </Field>
  );
}

const MAX_LIMIT = 1_000_000_000;

export function LimitField(props: Omit<NumberFieldProps, 'max'>) {
  return <NumberField {...props} max={MAX_LIMIT} />;
}
