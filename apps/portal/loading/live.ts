import { batch, effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SluiceError, type Message } from '#client/index.js';
import { holdMs, isKeyRefused, lookAgain, sluice } from '../session/connection.js';
import { can } from '../session/session.js';

/** Why there are no live updates, or that there are. */
export type LiveState = 'off' | 'connecting' | 'live' | 'busy' | 'lost';

export const liveState = signal<LiveState>('off');

/** How many messages are remembered: events can overtake the responses that they belong to. */
const REMEMBERED = 200;
/** How long after a failed start the stream is tried again, at least. */
const RESTART_MS = 5_000;
/** For how long a tab that is hidden goes on: somebody may only have looked at another one. */
const HIDDEN_MS = 5_000;

type Listener = (message: Message) => void;
const listeners = new Set<Listener>();
/** By id, the oldest event first. */
const remembered = new Map<string, Message>();
/** The last event of each client: what has happened since comes first when its stream is connected again. */
const positions = new WeakMap<NonNullable<typeof sluice.value>, string>();
/** How often the stream was connected. */
const connections = signal(0);

/** Calls back with messages that have changed. */
export function useMessageEvents(listener: Listener, dependencies: readonly unknown[]): void {
  useEffect(() => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, dependencies);
}

/** Loads again what may have changed before the stream was connected. */
export function useReloadWhenLive(reload: () => void): void {
  useEffect(() => {
    const known = connections.peek();
    return connections.subscribe((now) => {
      if (now > known) reload();
    });
  }, [reload]);
}

/** The later state of a message: from a response or from an event. */
export function newest(message: Message, other = remembered.get(message.id)): Message {
  return other !== undefined && other.updatedAt >= message.updatedAt ? other : message;
}

/** The messages of the latest events. */
export function latest(): Iterable<Message> {
  return remembered.values();
}

export const latestOf = (id: string): Message | undefined => remembered.get(id);

/**
 * Whether somebody sees the tab. One that is hidden holds no stream: all tabs of a browser share six connections to a host,
 * and nothing would load any more once streams hold all of them.
 */
const isSeen = signal(document.visibilityState !== 'hidden');
let hiding: ReturnType<typeof setTimeout> | undefined;
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiding);
  if (document.visibilityState !== 'hidden') isSeen.value = true;
  else hiding = setTimeout(() => (isSeen.value = false), HIDDEN_MS);
});

/** One stream serves all views, for as long as somebody is signed in who may read messages, and looks. */
effect(() => {
  const client = sluice.value;
  if (client === null || !isSeen.value || !can('messages:read')) {
    liveState.value = 'off';
    return undefined;
  }
  const ending = new AbortController();
  void follow(client, ending.signal);
  return () => {
    ending.abort();
    remembered.clear();
  };
});

async function follow(client: NonNullable<typeof sluice.value>, signal: AbortSignal): Promise<void> {
  liveState.value = 'connecting';
  const options = {
    signal,
    onConnect: () => {
      // What was missed is loaded again, or comes as further events.
      remembered.clear();
      batch(() => {
        liveState.value = 'live';
        connections.value++;
      });
    },
    onDisconnect: () => (liveState.value = 'connecting'),
  };
  const isOver = () => signal.aborted;
  while (!isOver()) {
    try {
      for await (const { id, message } of client.events({ ...options, lastEventId: positions.get(client) })) {
        positions.set(client, id);
        publish(message);
      }
    } catch (error) {
      if (isOver()) return;
      liveState.value = error instanceof SluiceError && error.code === 'too_many_streams' ? 'busy' : 'lost';
      // Nothing else may ask for long: the next request signs out, and says why.
      if (isKeyRefused(error)) return lookAgain();
      const restartMs = Math.max(RESTART_MS, error instanceof SluiceError ? holdMs(error) : 0);
      await new Promise((resolve) => setTimeout(resolve, restartMs));
    }
  }
}

function publish(event: Message): void {
  const message = newest(event);
  remembered.delete(message.id);
  remembered.set(message.id, message);
  const [oldest] = remembered.keys();
  if (remembered.size > REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  for (const listener of listeners) listener(message);
}
