import { useState } from 'preact/hooks';
import { chosenTime } from '../../text/local-time.js';
import { formatTime } from '../../text/format.js';
import { hrefOf, idIn } from '../../navigation/finding.js';
import { href, open } from '../../navigation/router.js';
import { can } from '../../session/session.js';
import { Dialog } from '../dialog.js';
import { Field } from '../field.js';
import type { Place } from '../shell/shell.js';

const STATUSES = ['failed', 'queued', 'processing', 'delivered', 'cancelled', 'skipped'];
const TYPE = /^[\w-]+(\.[\w-]+)*(\.\*)?$/;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;

interface Result {
  readonly label: string;
  readonly to: string;
}

interface PaletteProps {
  readonly places: readonly Place[];
  readonly onClose: () => void;
}

/** Finds pages by their names, and messages by id, type, status and time. */
export function Palette({ places, onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const results = resultsFor(text.trim(), places);
  const go = (result: Result | undefined) => {
    if (result === undefined) return;
    onClose();
    open(result.to);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => {
      setAt((at + 1) % results.length);
    },
    ArrowUp: () => {
      setAt((at - 1 + results.length) % results.length);
    },
    Enter: () => {
      go(results[at]);
    },
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <Field label="Page, id, type or time" hint="A time such as 2026-11-21 09:30 lists the messages before it.">
        {(tied) => (
          <input
            {...tied}
            role="combobox"
            aria-expanded={results.length > 0}
            aria-controls="found"
            aria-activedescendant={results.length > 0 ? `found-${at}` : undefined}
            aria-autocomplete="list"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              setAt(0);
            }}
            onKeyDown={(event) => {
              const work = keys[event.key];
              if (work === undefined) return;
              event.preventDefault();
              work();
            }}
          />
        )}
      </Field>
      {results.length === 0 ? (
        <p class="hint" role="status">
          Nothing is found.
        </p>
      ) : (
        <ul class="found" id="found" role="listbox" aria-label="Found">
          {results.map((result, index) => (
            <li
              key={result.to}
              id={`found-${index}`}
              role="option"
              aria-selected={index === at}
              onClick={() => {
                go(result);
              }}
            >
              {result.label}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function resultsFor(text: string, places: readonly Place[]): Result[] {
  const id = idIn(text);
  if (id !== undefined) return [{ label: `Open ${id}`, to: hrefOf(id) }];
  const named = places.map(({ label, path }) => ({ label, to: href(path) }));
  const listed = STATUSES.map((status) => ({ label: `Messages: ${status}`, to: href('messages', { status }) }));
  const fixed = [...named, ...(can('messages:read') ? listed : [])];
  const found = fixed.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
  return can('messages:read') ? [...found, ...messagesFor(text)] : found;
}

function messagesFor(text: string): Result[] {
  const [, day, time = '00:00', zoned] = TIME.exec(text) ?? [];
  if (day !== undefined) {
    // Of a log, to the millisecond; otherwise by the clock of the reader.
    const { at } = zoned === undefined ? chosenTime(`${day}T${time}`) : { at: new Date(text) };
    if (at === undefined || Number.isNaN(at.getTime())) return [];
    return [{ label: `Messages before ${formatTime(at)}`, to: href('messages', { until: at.toISOString() }) }];
  }
  return TYPE.test(text) ? [{ label: `Messages of type ${text}`, to: href('messages', { type: text }) }] : [];
}
