import { ValidationError, type FieldError } from '#kernel/domain-error.js';
import { isReserved, isTypePattern, matchesType, MAX_TYPE } from '#messages/index.js';
import { headersError, type EndpointHeaders } from '../../domain/endpoint-headers.js';
import { descriptionError, MAX_TYPES, urlError } from '../../domain/endpoint.js';
import { OPERATIONAL_EVENTS } from '../../domain/operational-event.js';
import type { WebhookClient } from '../sending/webhook-client.js';

/** What an account sets of an endpoint and has to be valid; null where it sets nothing. */
export interface EndpointInput {
  readonly url: string | null;
  readonly description: string | null;
  readonly types: readonly string[] | null;
  readonly headers: EndpointHeaders | null;
}

/** @throws ValidationError with an error for each value that is refused */
export function assertValid(client: WebhookClient, { url, description, types, headers }: EndpointInput): void {
  const errors: FieldError[] = [];
  const add = (pointer: string, detail: string | null) => {
    if (detail !== null) errors.push({ pointer, detail });
  };
  if (url !== null) {
    const forbidden =
      'url must not contain a private address: endpoints must be reachable from the Internet. To receive messages on your ' +
      'own machine, use `sluice listen`; whoever runs Sluice for development can set WEBHOOK_ALLOW_PRIVATE=true.';
    add('/url', urlError(url) ?? (client.isForbidden(url) ? forbidden : null));
  }
  if (description !== null) add('/description', descriptionError(description));
  if (types !== null && types.length > MAX_TYPES) add('/types', `types must have at most ${MAX_TYPES} items.`);
  else for (const [place, type] of (types ?? []).entries()) add(`/types/${place}`, typeError(type));
  if (headers !== null) add('/headers', headersError(headers));
  if (errors.length > 0) throw new ValidationError(errors);
}

function typeError(pattern: string): string | null {
  if (!isTypePattern(pattern)) {
    return `types must contain only types like order.paid or order.*, or *, each of at most ${MAX_TYPE} characters.`;
  }
  // Otherwise a typing error would go unnoticed: callers cannot send such messages.
  if (!isReserved(pattern) || OPERATIONAL_EVENTS.some((event) => matchesType([pattern], event))) return null;
  return `Types that begin with sluice are operational events: ${OPERATIONAL_EVENTS.join(', ')}.`;
}
