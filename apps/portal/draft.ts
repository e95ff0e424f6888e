import { effect, signal } from '@preact/signals';
import type { AcceptedMessage, Message, NewMessage } from '#client/index.js';
import { apiKey } from './session/connection.js';
import { latestOf } from './loading/live.js';
import { forgetPending } from './loading/once.js';
import { departures } from './session/session.js';

const FIRST_TEXT = 'Hello, Sluice';
const SHOWN = 5;

/** A message that was sent here, with what has happened to it. */
export interface Sent {
  readonly message: AcceptedMessage | Message;
  /** When each status was seen, by the clock of the server. */
  readonly steps: readonly { readonly status: Message['status']; readonly at: string }[];
}

/** What is composed outlives the view, and a key that expires meanwhile. */
export const text = signal(FIRST_TEXT);
export const deliverAt = signal('');
export const type = signal('');
export const orderingKey = signal('');
/** The rows of the form, each with a number of its own. */
export const metadata = signal<readonly { readonly row: number; readonly name: string; readonly value: string }[]>([]);
export const sent = signal<readonly Sent[]>([]);

effect(() => {
  if (departures.value > 0) discardDraft();
});

function discardDraft(): void {
  text.value = FIRST_TEXT;
  deliverAt.value = type.value = orderingKey.value = '';
  metadata.value = [];
  forgetPending();
}

// The next key may be one of another account.
effect(() => {
  if (apiKey.value === null) sent.value = [];
});

/** The optional fields that are filled in. */
export function fieldsOfDraft(): Pick<NewMessage, 'type' | 'metadata' | 'orderingKey'> {
  const values = metadata.value.filter(({ name }) => name !== '').map(({ name, value }) => [name, value] as const);
  return {
    ...(type.value !== '' && { type: type.value }),
    // By entries: a name such as __proto__ is one like any other.
    ...(values.length > 0 && { metadata: Object.fromEntries(values) }),
    ...(orderingKey.value !== '' && { orderingKey: orderingKey.value }),
  };
}

export function addSent(message: AcceptedMessage): void {
  const accepted: Sent = { message, steps: [{ status: message.status, at: message.createdAt }] };
  const overtaking = latestOf(message.id);
  const one = overtaking === undefined ? accepted : advanced(accepted, overtaking);
  sent.value = [one, ...sent.value].slice(0, SHOWN);
}

/** @returns whether the message was sent here */
export function advanceSent(message: Message): boolean {
  if (!sent.value.some((one) => one.message.id === message.id)) return false;
  sent.value = sent.value.map((one) => (one.message.id === message.id ? advanced(one, message) : one));
  return true;
}

function advanced(one: Sent, next: Message): Sent {
  const last = one.steps.at(-1);
  if (last !== undefined && next.updatedAt < last.at) return one;
  if (last?.status === next.status) return { ...one, message: next };
  return { message: next, steps: [...one.steps, { status: next.status, at: next.updatedAt }] };
}
