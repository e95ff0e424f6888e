import { effect, signal } from '@preact/signals';
import { SluiceError, type MessageEvent } from '#client/index.js';
import { can, sluice } from './session.js';

/** Why there are no live updates, or that there are. */
export type LiveState = 'off' | 'connecting' | 'live' | 'busy' | 'lost';

export const liveState = signal<LiveState>('off');

type Listener = (event: MessageEvent) => void;
const listeners = new Set<Listener>();

/** @returns a function that ends it */
export function onMessageEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** One stream serves all views, for as long as somebody is signed in who may read messages. */
effect(() => {
  const client = sluice.value;
  if (client === null || !can('messages:read')) {
    liveState.value = 'off';
    return undefined;
  }
  const ending = new AbortController();
  void follow(client, ending.signal);
  return () => {
    ending.abort();
  };
});

async function follow(client: NonNullable<typeof sluice.value>, signal: AbortSignal): Promise<void> {
  liveState.value = 'connecting';
  try {
    const events = client.events({
      signal,
      onConnect: () => (liveState.value = 'live'),
      onDisconnect: () => (liveState.value = 'connecting'),
    });
    for await (const event of events) for (const listener of listeners) listener(event);
  } catch (error) {
    if (signal.aborted) return;
    liveState.value = error instanceof SluiceError && error.code === 'too_many_streams' ? 'busy' : 'lost';
  }
}
