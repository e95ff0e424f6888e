import { SluiceError } from '#client/index.js';
import { Field } from '../../components/field.js';
import { fieldError } from '../../components/problem.js';

const OPERATIONAL_EVENTS = [
  { type: 'sluice.message.failed', text: 'A message has failed' },
  { type: 'sluice.endpoint.disabled', text: 'An endpoint was disabled' },
  { type: 'sluice.account.limit_reached', text: 'A rate limit is reached' },
] as const;

/** The pointers of their errors. */
export const ENDPOINT_POINTERS = ['/types', '/headers'] as const;

interface Props<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly error: unknown;
}

export function UrlField({ value, onChange, error, hint }: Props<string> & { readonly hint: string }) {
  return (
    <Field label="URL" hint={hint} error={fieldError(error, '/url')}>
      {(tied) => (
        <input
          {...tied}
          type="url"
          required
          placeholder="https://example.com/hooks"
          value={value}
          onInput={({ currentTarget }) => {
            onChange(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

export function DescriptionField({ value, onChange, error }: Props<string>) {
  return (
    <Field label="Description (optional)" error={fieldError(error, '/description')}>
      {(tied) => (
        <input
          {...tied}
          value={value}
          onInput={({ currentTarget }) => {
            onChange(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

/** Which messages an endpoint gets. */
export function TypesField({ value, onChange, error }: Props<readonly string[]>) {
  const events: readonly string[] = OPERATIONAL_EVENTS.map(({ type }) => type);
  const [types, chosen] = [
    value.filter((type) => !events.includes(type)),
    value.filter((type) => events.includes(type)),
  ];
  return (
    <>
      <Field
        label="Types of messages (optional)"
        hint="Such as order.paid, or order.* for all that begin so, separated by spaces. * is all, as is nothing."
        error={typesError(error)}
      >
        {(tied) => (
          <input
            {...tied}
            spellcheck={false}
            placeholder="order.* invoice.paid"
            value={types.join(' ')}
            onChange={({ currentTarget }) => {
              onChange([...currentTarget.value.split(/[\s,]+/).filter(Boolean), ...chosen]);
            }}
          />
        )}
      </Field>
      <fieldset class="field">
        <legend>Also tell it when</legend>
        {OPERATIONAL_EVENTS.map(({ type, text }) => (
          <label key={type} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(type)}
              onChange={({ currentTarget }) => {
                const others = chosen.filter((one) => one !== type);
                onChange([...types, ...others, ...(currentTarget.checked ? [type] : [])]);
              }}
            />
            {text}
          </label>
        ))}
        {types.length === 0 && chosen.length > 0 && (
          <p class="hint">It gets nothing else. Write * as a type for your messages, too.</p>
        )}
      </fieldset>
    </>
  );
}

/** Of the list, or of the first item that is refused. */
function typesError(error: unknown): string | undefined {
  const errors = error instanceof SluiceError ? error.problem?.errors : undefined;
  return errors?.find(({ pointer }) => pointer.startsWith('/types'))?.detail;
}

/** Headers that are sent along, each in a line. */
export function HeadersField({ value, onChange, error, hint }: Props<string> & { readonly hint: string }) {
  return (
    <Field label="Headers (optional)" hint={hint} error={fieldError(error, '/headers')}>
      {(tied) => (
        <textarea
          {...tied}
          rows={2}
          spellcheck={false}
          autocomplete="off"
          placeholder="Authorization: Bearer …"
          value={value}
          onInput={({ currentTarget }) => {
            onChange(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

/** The headers of lines like `Name: value`. A line without a colon is a name, which the API refuses. */
export function headersOf(lines: string): Record<string, string> {
  const filled = lines.split('\n').filter((line) => line.trim() !== '');
  const headers = filled.map((line) => {
    const [name = '', ...value] = line.split(':');
    return [name.trim(), value.join(':').trim()] as const;
  });
  return Object.fromEntries(headers);
}
