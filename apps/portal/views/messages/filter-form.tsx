import { useState } from 'preact/hooks';
import { Button } from '../../components/button.js';
import { Field } from '../../components/field.js';
import { endpointName } from '../../components/messages/deliveries.js';
import { Form } from '../../components/form.js';
import { Problem } from '../../components/problem.js';
import { loadEndpoints } from '../../loading/endpoints.js';
import { hrefOf, idIn } from '../../navigation/finding.js';
import { useResource } from '../../loading/hooks.js';
import { chosenTime, LAST_TIME, localTime } from '../../text/local-time.js';
import { href, open } from '../../navigation/router.js';
import { can } from '../../session/session.js';
import { isFiltering, statusesFor, type Filter } from './filter.js';

/** The filter is part of the address, so that it can be linked and gone back from. */
export function FilterForm({ filter }: { filter: Filter }) {
  return (
    <>
      <nav class="filters" aria-label="Filter by status">
        {[undefined, ...statusesFor(filter)].map((status) => (
          <a
            key={status ?? 'all'}
            href={href('messages', { ...filter, status })}
            aria-current={status === filter.status ? 'true' : undefined}
          >
            {status ?? 'all'}
          </a>
        ))}
      </nav>
      {/* What the address says now, whatever was typed before. */}
      <Fields key={JSON.stringify(filter)} filter={filter} />
    </>
  );
}

function Fields({ filter }: { filter: Filter }) {
  const [type, setType] = useState(filter.type ?? '');
  const [since, setSince] = useState(shownTime(filter.since));
  const [until, setUntil] = useState(shownTime(filter.until));
  const [endpointId, setEndpointId] = useState(filter.endpointId ?? '');
  const [isOpen, setIsOpen] = useState(since !== '' || until !== '' || endpointId !== '');
  const times = [
    { name: 'since', label: 'From', value: since, set: setSince, before: filter.since },
    { name: 'until', label: 'Jump to (before)', value: until, set: setUntil, before: filter.until },
  ] as const;
  const chosen = times.map(({ value, before }) => readTime(value, before));
  const apply = () => {
    const id = idIn(type);
    if (id === undefined && chosen.some(({ problem }) => problem !== undefined)) return;
    const [from, to] = chosen.map(({ at }) => at);
    const status = statusesFor({ endpointId: endpointId || undefined }).find((one) => one === filter.status);
    const what = endpointId === '' ? { type: type.trim() } : { endpointId };
    const found = href('messages', { status, ...what, since: from, until: to });
    open(id === undefined ? found : hrefOf(id));
  };
  return (
    <search>
      <Form class="find" onSubmit={apply}>
        <div class="type-filter">
          <input
            class="mono"
            aria-label="Type"
            placeholder="Type such as order.*, or an id"
            autocomplete="off"
            spellcheck={false}
            value={type}
            onInput={({ currentTarget }) => {
              setType(currentTarget.value);
            }}
          />
          <Button type="submit">Filter</Button>
          {isFiltering({ ...filter, status: undefined }) && (
            <a class="button plain" href={href('messages', { status: filter.status })}>
              Clear
            </a>
          )}
        </div>
        <details
          open={isOpen}
          onToggle={({ currentTarget }) => {
            setIsOpen(currentTarget.open);
          }}
        >
          <summary>Time{can('account:manage') && ' and endpoint'}</summary>
          {isOpen && (
            <div class="find-more">
              {times.map(({ name, label, value, set }, index) => (
                <Field key={name} label={label} error={chosen[index]?.problem}>
                  {(tied) => (
                    <input
                      {...tied}
                      type="datetime-local"
                      max={LAST_TIME}
                      value={value}
                      onInput={({ currentTarget }) => {
                        set(currentTarget.value);
                      }}
                    />
                  )}
                </Field>
              ))}
              {can('account:manage') && <EndpointField value={endpointId} onChange={setEndpointId} />}
            </div>
          )}
        </details>
      </Form>
    </search>
  );
}

/** By their names; without a type then, by which the API does not filter what an endpoint got. */
function EndpointField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { data, error, reload } = useResource(loadEndpoints, []);
  const names = (data ?? []).map((endpoint) => ({ id: endpoint.id, name: endpointName(endpoint) }));
  // One that is deleted, or not loaded yet.
  const isUnknown = value !== '' && !names.some(({ id }) => id === value);
  return (
    <div>
      <Field label="Endpoint">
        {(tied) => (
          <select
            {...tied}
            value={value}
            onChange={({ currentTarget }) => {
              onChange(currentTarget.value);
            }}
          >
            <option value="">any</option>
            {isUnknown && <option value={value}>{value}</option>}
            {names.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Problem error={error} onRetry={reload} />
    </div>
  );
}

/** Empty for what is no time, as somebody may have written into the address. */
function shownTime(time: string | undefined): string {
  const at = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? '' : localTime(at);
}

/** What was not changed stays as exact as it was. */
function readTime(
  value: string,
  before: string | undefined,
): { readonly at?: string | undefined; readonly problem?: string | undefined } {
  if (value === shownTime(before)) return { at: before };
  if (value === '') return {};
  const { at, problem } = chosenTime(value);
  return { at: at?.toISOString(), problem };
}
