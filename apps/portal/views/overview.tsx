import type { Endpoint, Message, Usage } from '#client/index.js';
import { Button } from '../components/button.js';
import { HistoryChart } from '../components/charts/history-chart.js';
import { loadHistory } from '../components/charts/usage-history.js';
import { Icon } from '../components/icon.js';
import { Loaded } from '../components/loaded.js';
import { endpointName, reasonText } from '../components/messages/deliveries.js';
import { Card, Page, Time } from '../components/parts.js';
import { call } from '../session/connection.js';
import { loadEndpoints } from '../loading/endpoints.js';
import { LOADED_LENGTH, previewOf } from '../text/format.js';
import { nameHidden } from '../text/hidden-characters.js';
import { useRefresh, useResource } from '../loading/hooks.js';
import { href } from '../navigation/router.js';
import { account, loadAccount } from '../session/account.js';
import { can } from '../session/session.js';
import { EndpointState } from './endpoints/endpoints.js';
import { Backlog, Windows } from './usage.js';

/** Each look costs a few requests of the plan. */
const REFRESH_MS = 60_000;
const LATEST = 5;

interface Overview {
  readonly usage: Usage;
  readonly hours: Awaited<ReturnType<typeof loadHistory>>;
  readonly endpoints: readonly Endpoint[];
  readonly failed: readonly Message[];
}

/** What goes on in the account. */
export function OverviewView() {
  const overview = useResource(load, []);
  useRefresh(overview, REFRESH_MS);
  return (
    <Page
      title="Overview"
      lead={account.value === null ? undefined : nameHidden(account.value.name)}
      actions={
        <Button icon="refresh" isBusy={overview.isLoading && overview.data !== null} onClick={overview.reload}>
          Refresh
        </Button>
      }
    >
      <Loaded resource={overview} rows={6}>
        {({ usage, hours, endpoints, failed }) => (
          <>
            <Card title="Messages in the last 24 hours">
              <HistoryChart by="hour" periods={hours} isLinked={can('messages:read')} />
            </Card>
            <Backlog messages={usage.messages} />
            <Windows usage={usage} />
            <div class="columns">
              {can('messages:read') && <Failed messages={failed} endpoints={endpoints} />}
              <Failing endpoints={endpoints} />
            </div>
            <p class="hint">Refreshed every minute while you look. Each time counts as up to five requests.</p>
          </>
        )}
      </Loaded>
    </Page>
  );
}

async function load(): Promise<Overview> {
  const [usage, hours, endpoints, failed] = await Promise.all([
    call((client) => client.account.usage()),
    loadHistory(),
    // Other ways of delivery have none, and not every service has webhooks.
    loadAccount().then(({ delivery }) => (delivery === 'webhooks' ? loadEndpoints() : [])),
    can('messages:read')
      ? call((client) => client.messages.list({ status: 'failed', limit: LATEST, preview: LOADED_LENGTH }).page())
      : null,
  ]);
  return { usage, hours, endpoints, failed: failed?.data ?? [] };
}

function Failed({ messages, endpoints }: Pick<Overview, 'endpoints'> & { messages: readonly Message[] }) {
  return (
    <Card
      title="Last failed messages"
      actions={messages.length > 0 && <a href={href('messages', { status: 'failed' })}>Show all</a>}
    >
      {messages.length === 0 ? (
        <p class="hint">None of the messages that are kept has failed.</p>
      ) : (
        <ul class="plain-list">
          {messages.map(({ id, message, createdAt, failureReason }) => (
            <li key={id}>
              <a class="row-link" href={href(`messages/${id}`)}>
                <bdi class="preview">{previewOf(message)}</bdi>
                <bdi class="sub">{reasonText(failureReason ?? '', endpoints)}</bdi>
              </a>
              <span class="hint">
                <Time at={createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Failing({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const failing = endpoints.filter(
    ({ failingSince, disabledReason }) => failingSince !== null || ['gone', 'failing'].includes(disabledReason ?? ''),
  );
  return (
    <Card title="Endpoints that fail" actions={<a href={href('endpoints')}>Show all</a>}>
      {failing.length === 0 ? (
        <p class="hint">None.</p>
      ) : (
        <ul class="plain-list">
          {failing.map((endpoint) => (
            <li key={endpoint.id}>
              <a class="row-link" href={href(`endpoints/${endpoint.id}`)}>
                <bdi class="preview">{endpointName(endpoint)}</bdi>
                <EndpointState endpoint={endpoint} />
              </a>
              {can('messages:read') && (
                <a
                  href={href('messages', { endpointId: endpoint.id, status: 'failed' })}
                  aria-label={`Messages that failed at ${endpointName(endpoint) ?? endpoint.id}`}
                >
                  Failed <Icon name="next" />
                </a>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
