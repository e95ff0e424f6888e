import { useState } from 'preact/hooks';
import type { OperatorsAccount } from '#client/index.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Loaded } from '../components/loaded.js';
import { Badge, Empty, Page, Time } from '../components/parts.js';
import { call } from '../session/connection.js';
import { useList } from '../loading/hooks.js';
import { href, open, route } from '../navigation/router.js';
import { CreateAccount } from './create-account.js';
import { More } from './more.js';
import { nameHidden } from '../text/hidden-characters.js';

const PAGE_SIZE = 25;

export function AccountsView() {
  const { query } = route.value;
  const isSuspended = query.get('suspended') === 'true';
  const filter = {
    suspended: isSuspended ? (true as const) : undefined,
    name: query.get('name') ?? undefined,
    externalId: query.get('externalId') ?? undefined,
  };
  const key = JSON.stringify(filter);
  return (
    <Page title="Accounts" lead="Newest first." actions={<CreateAccount />}>
      <div class="finding">
        <Search key={key} name={filter.name} externalId={filter.externalId} />
        <OpenById />
      </div>
      <nav class="filters" aria-label="Filter by state">
        <a href={href('accounts')} aria-current={isSuspended ? undefined : 'true'}>
          all
        </a>
        <a href={href('accounts', { suspended: 'true' })} aria-current={isSuspended ? 'true' : undefined}>
          suspended
        </a>
      </nav>
      <AccountList key={key} filter={filter} />
    </Page>
  );
}

interface Filter {
  readonly suspended: true | undefined;
  readonly name: string | undefined;
  readonly externalId: string | undefined;
}

function AccountList({ filter }: { filter: Filter }) {
  const accounts = useList(
    (cursor) => call((client) => client.admin.accounts.list({ ...filter, cursor, limit: PAGE_SIZE }).page()),
    [],
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Loaded resource={accounts} rows={8}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows accounts={data} />
          ) : (
            <Empty title={filter.suspended ? 'No account is suspended' : 'There are no such accounts'}>
              <p>
                {isFiltered ? (
                  <a href={href('accounts')}>Show all accounts</a>
                ) : (
                  'Accounts appear here once you create one or somebody signs up.'
                )}
              </p>
            </Empty>
          )
        }
      </Loaded>
      <More list={accounts} />
    </>
  );
}

/** The search is in the URL, so that Back leads to it. */
function Search(found: Pick<Filter, 'name' | 'externalId'>) {
  const [name, setName] = useState(found.name ?? '');
  const [externalId, setExternalId] = useState(found.externalId ?? '');
  return (
    <Form
      class="search"
      onSubmit={() => {
        open(href('accounts', { name: name.trim() || null, externalId: externalId.trim() || null }));
      }}
    >
      <Field label="Name contains">
        {(tied) => (
          <input
            {...tied}
            type="search"
            maxLength={100}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => {
              setName(currentTarget.value);
            }}
          />
        )}
      </Field>
      <Field label="External id">
        {(tied) => (
          <input
            {...tied}
            type="search"
            class="mono"
            maxLength={255}
            autocomplete="off"
            spellcheck={false}
            value={externalId}
            onInput={({ currentTarget }) => {
              setExternalId(currentTarget.value);
            }}
          />
        )}
      </Field>
      <Button type="submit">Search</Button>
    </Form>
  );
}

function Rows({ accounts }: { accounts: readonly OperatorsAccount[] }) {
  return (
    <table class="list links accounts">
      <thead>
        <tr>
          <th scope="col">Plan</th>
          <th scope="col">Account</th>
          <th scope="col" class="number wide">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {accounts.map(({ id, name, plan, suspended, paused, createdAt }) => (
          <tr key={id}>
            <td>
              <PlanBadge plan={plan} />
            </td>
            <td>
              <a class="row-link" href={href(`accounts/${id}`)}>
                <span class="row-title">
                  <bdi class="preview">{nameHidden(name)}</bdi> {suspended && <Badge tone="bad">suspended</Badge>}
                  {paused && <Badge tone="warn">paused</Badge>}
                </span>
                <code class="sub">{id}</code>
              </a>
            </td>
            <td class="number wide">
              <Time at={createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function PlanBadge({ plan }: { plan: string }) {
  return <Badge tone="info">{plan}</Badge>;
}

function OpenById() {
  const [id, setId] = useState('');
  return (
    <Form
      class="open-by-id"
      onSubmit={() => {
        open(href(`accounts/${encodeURIComponent(id.trim())}`));
      }}
    >
      <Field label="Open by id">
        {(tied) => (
          <input
            {...tied}
            required
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder="acct_…"
            value={id}
            onInput={({ currentTarget }) => {
              setId(currentTarget.value);
            }}
          />
        )}
      </Field>
      <Button type="submit">Open</Button>
    </Form>
  );
}
