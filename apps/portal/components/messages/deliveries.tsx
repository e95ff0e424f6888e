import type { EndpointDelivery, MessageDelivery } from '#client/index.js';
import { formatMilliseconds, formatMoment } from '../../format.js';
import { nameHidden } from '../../hidden-characters.js';
import { href } from '../../router.js';
import { can } from '../../session.js';
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

/** A text, such as the reason of a failure, with the names of endpoints in the place of their ids. */
export function withNames(text: string, endpoints: readonly (Named & { readonly id: string })[]): string {
  return endpoints.reduce(
    (named, one) => named.replaceAll(one.id, () => endpointName(one) ?? one.id),
    nameHidden(text),
  );
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
          {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
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
      {error !== null && <p class="field-error">{nameHidden(error)}</p>}
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
