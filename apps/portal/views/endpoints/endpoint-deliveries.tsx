import { useState } from 'preact/hooks';
import type { EndpointDelivery } from '#client/index.js';
import { Button } from '../../components/button.js';
import { Choice } from '../../components/choice.js';
import { DeliveryFacts } from '../../components/messages/deliveries.js';
import { Loaded } from '../../components/loaded.js';
import { Card } from '../../components/parts.js';
import { Problem } from '../../components/problem.js';
import { call } from '../../session/connection.js';
import { formatNumber } from '../../text/format.js';
import { useList } from '../../loading/hooks.js';
import { href } from '../../navigation/router.js';
import { can } from '../../session/session.js';

const PAGE_SIZE = 20;

type Status = EndpointDelivery['status'];

const CHOICES: readonly { readonly value: Status | 'all'; readonly label: string }[] = [
  { value: 'all', label: 'All deliveries' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
];

/** What an endpoint got, still gets, and has missed: the newest message first. */
export function EndpointDeliveries({ id }: { id: string }) {
  const [chosen, setChosen] = useState<Status | 'all'>('all');
  const status = chosen === 'all' ? undefined : chosen;
  const list = useList(
    (cursor) => call((client) => client.endpoints.deliveries(id, { status, cursor, limit: PAGE_SIZE }).page()),
    [id, status],
  );
  return (
    <Card
      title="Recent deliveries"
      actions={
        <Button icon="refresh" isBusy={list.isLoading} onClick={list.reload}>
          Refresh
        </Button>
      }
    >
      <Choice label="Show" value={chosen} choices={CHOICES} onChange={setChosen} />
      <Loaded resource={list} rows={3}>
        {({ data, nextCursor }) => (
          <>
            {status === undefined && <Rate deliveries={data} />}
            {data.length === 0 ? (
              <p class="hint">
                {status === undefined ? 'None yet. They appear here once messages are sent.' : 'None.'}
              </p>
            ) : (
              <ul class="attempts">
                {data.map((delivery) => (
                  <li key={delivery.messageId}>
                    <p>
                      {can('messages:read') ? (
                        <a href={href(`messages/${delivery.messageId}`)}>
                          <code>{delivery.messageId}</code>
                        </a>
                      ) : (
                        <code>{delivery.messageId}</code>
                      )}
                    </p>
                    <DeliveryFacts delivery={delivery} />
                  </li>
                ))}
              </ul>
            )}
            {nextCursor !== null && (
              <Button isBusy={list.more.isRunning} onClick={() => void list.more.run()}>
                Show older deliveries
              </Button>
            )}
            <Problem error={list.more.error} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** How many of those that have ended have succeeded. */
function Rate({ deliveries }: { deliveries: readonly EndpointDelivery[] }) {
  const ended = deliveries.filter(({ status }) => status !== 'pending');
  const delivered = ended.filter(({ status }) => status === 'delivered').length;
  if (ended.length === 0) return null;
  return (
    <p>
      {formatNumber(delivered)} of {formatNumber(ended.length)} that have ended succeeded (
      {Math.floor((100 * delivered) / ended.length)}%).
    </p>
  );
}
