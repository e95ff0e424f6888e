import type { AuditEntry } from '#client/index.js';
import { Button } from '../components/button.js';
import { Loaded } from '../components/loaded.js';
import { Empty, Fact, Page, Time } from '../components/parts.js';
import { call } from '../session/connection.js';
import { nameHidden } from '../text/hidden-characters.js';
import { useList } from '../loading/hooks.js';
import { href } from '../navigation/router.js';
import { More } from './more.js';

export function AuditView() {
  const entries = useList((cursor) => call((client) => client.admin.audit.list({ cursor }).page()), []);
  return (
    <Page
      title="Audit"
      lead="What operators have changed, newest first."
      actions={
        <Button icon="refresh" onClick={entries.reload} isBusy={entries.isLoading && entries.data !== null}>
          Refresh
        </Button>
      }
    >
      <Loaded resource={entries} rows={4}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty title="Nothing was changed">
              <p>Changes by operators appear here.</p>
            </Empty>
          ) : (
            <ul class="rows">
              {page.data.map((entry) => (
                <Row key={entry.id} entry={entry} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <More list={entries} />
    </Page>
  );
}

function Row({ entry: { at, operator, action, subject, accountId, before, after } }: { entry: AuditEntry }) {
  return (
    <li class="row">
      <div class="row-main">
        <h2>{nameHidden(`${operator}: ${action}`)}</h2>
        <p>
          <code>{nameHidden(subject)}</code>
          {accountId !== null && accountId !== subject && (
            <>
              {' of '}
              <a href={href(`accounts/${accountId}`)}>
                <code>{accountId}</code>
              </a>
            </>
          )}
        </p>
      </div>
      <dl class="row-facts">
        <Fact name="Before">
          <State state={before} />
        </Fact>
        <Fact name="After">
          <State state={after} />
        </Fact>
        <Fact name="When">
          <Time at={at} />
        </Fact>
      </dl>
    </li>
  );
}

function State({ state }: { state: AuditEntry['before'] }) {
  return <code>{state === null ? '–' : nameHidden(JSON.stringify(state))}</code>;
}
