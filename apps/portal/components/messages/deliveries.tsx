import type { EndpointDelivery, MessageDelivery } from '#client/index.js';
import { count, formatMilliseconds, formatMoment } from '../../text/format.js';
import { nameHidden } from '../../text/hidden-characters.js';
import { href } from '../../navigation/router.js';
import { can } from '../../session/session.js';
import { Badge, Card, Time } from '../parts.js';

interface Named {
  readonly url: string | null;
  readonly description: string | null;
}

/** What people call an endpoint; undefined once it is deleted. */
export function endpointName({ url, description }: Named): string | undefined {
  const name = description === null || description === '' ? url : description;
  return name === null ? undefined : nameHidden(name);
}

/** What programs read as the reason of a failure, behind the id of an endpoint or alone. */
const REASONS = new Map(
  Object.entries({
    worker_stopped: 'The worker was stopped before the handler had finished.',
    worker_stalled: 'The worker stopped responding.',
    worker_lost: 'The message has repeatedly killed its worker.',
    lease_expired: 'The lease has expired.',
    rejected: 'The consumer gave no reason.',
    no_endpoint: 'No endpoint was enabled when it was accepted.',
    endpoint_disabled: 'The endpoint was disabled before it had the message.',
    endpoint_deleted: 'The endpoint was deleted before it had the message.',
    endpoint_types_changed: 'The endpoint no longer wanted messages of this type.',
  }),
);

/** The reason of a failure in sentences, with the names of endpoints in the place of their ids. */
export function reasonText(reason: string, endpoints: readonly (Named & { readonly id: string })[] = []): string {
  const text = nameHidden(reason).replace(/(?<=^|^ep_\w+: )[a-z_]+$/, (code) => REASONS.get(code) ?? code);
  return endpoints.reduce((named, one) => named.replaceAll(one.id, () => endpointName(one) ?? one.id), text);
}

/** How an endpoint is named and linked wherever an attempt or a delivery mentions it. */
export function EndpointLink({ id, name = id }: { id: string; name?: string | undefined }) {
  const text = <bdi class="url">{name}</bdi>;
  return can('account:manage') ? <a href={href(`endpoints/${id}`)}>{text}</a> : text;
}

/** When something that has failed is tried again. */
export const retryText = (at: string | null): string =>
  at === null ? 'Failed, will retry' : `Failed, will retry at ${formatMoment(at)}`;

function DeliveryState({ delivery: { status, lastAttemptAt, nextAttemptAt } }: { delivery: EndpointDelivery }) {
  if (status === 'delivered') return <Badge tone="good">Delivered</Badge>;
  if (status === 'failed') return <Badge tone="bad">Failed</Badge>;
  if (lastAttemptAt !== null) return <Badge tone="bad">{retryText(nextAttemptAt)}</Badge>;
  return <Badge tone="info">{nextAttemptAt === null ? 'Pending' : `Due at ${formatMoment(nextAttemptAt)}`}</Badge>;
}

/** How far a delivery is, and what the endpoint answered last. */
export function DeliveryFacts({ delivery }: { delivery: EndpointDelivery }) {
  const { attempts, lastAttemptAt, responseStatus, durationMs, error } = delivery;
  return (
    <>
      <p>
        <DeliveryState delivery={delivery} />{' '}
        <span class="hint">
          {count(attempts, 'attempt')}
          {responseStatus !== null && ` · status ${responseStatus}`}
          {durationMs !== null && ` · ${formatMilliseconds(durationMs)}`}
          {lastAttemptAt !== null && (
            <>
              {' · '}
              <Time at={lastAttemptAt} />
            </>
          )}
        </span>
      </p>
      {error !== null && <p class="field-error">{reasonText(error)}</p>}
    </>
  );
}

/** What each endpoint got of a message. */
export function MessageDeliveries({ deliveries }: { deliveries: readonly MessageDelivery[] }) {
  if (deliveries.length === 0) return null;
  return (
    <Card title="Endpoints">
      <ul class="attempts">
        {deliveries.map((delivery) => (
          <li key={delivery.endpointId}>
            <p>
              <EndpointLink id={delivery.endpointId} name={endpointName(delivery)} />
            </p>
            <DeliveryFacts delivery={delivery} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
