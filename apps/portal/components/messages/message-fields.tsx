import { useRef } from 'preact/hooks';
import type { Message } from '#client/index.js';
import { metadata, orderingKey, type } from '../../draft.js';
import { beginning } from '../../text/format.js';
import { nameHidden } from '../../text/hidden-characters.js';
import { Button, IconButton } from '../button.js';
import { Field } from '../field.js';
import { Card, Fact, Facts } from '../parts.js';
import { fieldError } from '../problem.js';

/** The fields of a message besides its text and its time, whose errors the form shows next to them. */
export const MESSAGE_FIELDS = ['/type', '/metadata', '/orderingKey'];

const SHOWN_LENGTH = 160;

/** In one line: `order.paid · customer-17 · region=eu`; empty without any. */
export function fieldsLine(message: Pick<Message, 'type' | 'metadata' | 'orderingKey'>): string {
  const values = Object.entries(message.metadata ?? {}).map(([name, value]) => `${name}=${value}`);
  const line = [message.type, message.orderingKey, ...values].filter((one) => one !== undefined).join(' · ');
  return nameHidden(beginning(line, SHOWN_LENGTH).replace(/\s+/g, ' '));
}

export function MetadataCard({ metadata: shown }: { metadata: Readonly<Record<string, string>> }) {
  return (
    <Card title="Metadata">
      <Facts>
        {Object.entries(shown).map(([name, value]) => (
          <Fact key={`=${name}`} name={nameHidden(name)}>
            <bdi class="value">{value === '' ? '(empty)' : nameHidden(value)}</bdi>
          </Fact>
        ))}
      </Facts>
    </Card>
  );
}

/** What keeps the metadata from being sent. */
export function metadataProblem(): string | undefined {
  const names = metadata.value.filter(({ name, value }) => name !== '' || value !== '').map(({ name }) => name);
  if (names.includes('')) return 'Each value needs a name.';
  if (new Set(names).size < names.length) return 'The names must be different.';
  return undefined;
}

/** The controls for these fields. @param error of the request */
export function MessageFields({ error }: { error: unknown }) {
  return (
    <>
      <WordField
        label="Type (optional)"
        hint="What it is about, such as order.paid."
        error={fieldError(error, '/type')}
        word={type}
      />
      <WordField
        label="Ordering key (optional)"
        hint="Messages with the same key are delivered one after another."
        error={fieldError(error, '/orderingKey')}
        word={orderingKey}
      />
      <MetadataRows error={metadataProblem() ?? fieldError(error, '/metadata')} />
    </>
  );
}

interface WordFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | undefined;
  readonly word: typeof type;
}

function WordField({ word, ...field }: WordFieldProps) {
  return (
    <Field {...field}>
      {(tied) => (
        <input
          {...tied}
          class="mono"
          autocomplete="off"
          spellcheck={false}
          value={word.value}
          onInput={({ currentTarget }) => {
            word.value = currentTarget.value;
          }}
        />
      )}
    </Field>
  );
}

let lastRow = 0;

function MetadataRows({ error }: { error: string | undefined }) {
  const rows = useRef<HTMLDivElement>(null);
  const edit = (row: number, change: { readonly name?: string; readonly value?: string }) => {
    metadata.value = metadata.value.map((one) => (one.row === row ? { ...one, ...change } : one));
  };
  const add = () => {
    metadata.value = [...metadata.value, { row: ++lastRow, name: '', value: '' }];
    requestAnimationFrame(() => {
      const names = rows.current?.querySelectorAll<HTMLElement>('.pair input:first-child');
      names?.[names.length - 1]?.focus();
    });
  };
  const remove = (row: number) => {
    metadata.value = metadata.value.filter((one) => one.row !== row);
    rows.current?.querySelector<HTMLElement>('.add button')?.focus();
  };
  return (
    <fieldset class="field" aria-describedby={error === undefined ? undefined : 'metadata-error'}>
      <legend>Metadata (optional)</legend>
      <div ref={rows} class="pairs">
        {metadata.value.map(({ row, name, value }, index) => (
          <div key={row} class="pair">
            <input
              aria-label={`Name ${index + 1}`}
              placeholder="Name"
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => {
                edit(row, { name: currentTarget.value });
              }}
            />
            <input
              aria-label={`Value ${index + 1}`}
              placeholder="Value"
              autocomplete="off"
              value={value}
              onInput={({ currentTarget }) => {
                edit(row, { value: currentTarget.value });
              }}
            />
            <IconButton
              name="close"
              label={`Remove value ${index + 1}`}
              onClick={() => {
                remove(row);
              }}
            />
          </div>
        ))}
        <div class="add">
          <Button icon="plus" onClick={add}>
            Add a value
          </Button>
        </div>
      </div>
      {error !== undefined && (
        <p class="field-error" id="metadata-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
