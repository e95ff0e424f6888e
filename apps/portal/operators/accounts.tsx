import { useState } from 'preact/hooks';
import type { OperatorsAccount } from '#client/index.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Loaded } from '../components/loaded.js';
import { Badge, Empty, Page, Time } from '../components/parts.js';
import { call } from '../connection.js';
import { useList } from '../hooks.js';
import { href, route } from '../router.js';
import { More } from './more.js';
import { nameHidden } from '../hidden-characters.js';

const PAGE_SIZE = 25;

export function AccountsView() {
  const isSuspended = route.value.query.get('suspended') === 'true';
  return (
    <Page title="Accounts" lead="Newest first." actions={<OpenById />}>
      <nav class="filters" aria-label="Filter by state">
        <a href={href('accounts')} aria-current={isSuspended ? undefined : 'true'}>
          all
        </a>
        <a href={href('accounts', { suspended: 'true' })} aria-current={isSuspended ? 'true' : undefined}>
          suspended
        </a>
      </nav>
      <AccountList key={String(isSuspended)} suspended={isSuspended ? true : undefined} />
    </Page>
  );
}

function AccountList({ suspended }: { suspended: true | undefined }) {
  const accounts = useList(
    (cursor) => call((client) => client.admin.accounts.list({ suspended, cursor, limit: PAGE_SIZE }).page()),
    [],
  );
  return (
    <>
      <Loaded resource={accounts} rows={8}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows accounts={data} />
          ) : (
            <Empty title={suspended ? 'No account is suspended' : 'There are no accounts'}>
              <p>
                {suspended ? (
                  <a href={href('accounts')}>Show all accounts</a>
                ) : (
                  'Accounts appear here once somebody signs up.'
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

function Rows({ accounts }: { accounts: readonly OperatorsAccount[] }) {
  return (
    <table class="list links">
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
        location.hash = href(`accounts/${encodeURIComponent(id.trim())}`);
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
