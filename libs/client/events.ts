import { objectIn } from './body.js';
import { SluiceError, unexpected } from './errors.js';
import { backoffMs, onAbort, sleep } from './timing.js';
import type { CallOptions, Transport } from './transport.js';
import type { Message, MessageStatus } from './types.js';

/** A change of status of a message. */
export interface StatusEvent {
  /** The position in the stream: `lastEventId` of a stream that goes on after this event. */
  readonly id: string;
  readonly type: `message.${MessageStatus}`;
  /** The message in the state after this change. */
  readonly message: Message;
}

export interface EventOptions extends CallOptions {
  /** The `id` of the last event that was processed: what has happened since, within an hour, comes first. */
  readonly lastEventId?: string | undefined;
  /** Is called each time that the stream is connected. */
  readonly onConnect?: (() => void) | undefined;
  /** Is called when the connection was lost, or could not be made again. The stream reconnects after that. */
  readonly onDisconnect?: ((error: SluiceError | null) => void) | undefined;
}

/** A comment is sent every 15 seconds: a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000;

/**
 * The events of the account, until the signal is aborted or the loop is left. Fails like any call if the first connection
 * can't be made; later it reconnects until it succeeds or is refused for good.
 */
export async function* events(
  transport: Transport,
  options: EventOptions,
): AsyncGenerator<StatusEvent, void, undefined> {
  const { signal, onConnect, onDisconnect } = options;
  let { lastEventId = '' } = options;
  const isOver = () => signal?.aborted === true;
  let wasConnected = false;
  for (let failures = 0; !isOver(); failures++) {
    let error: SluiceError | null = null;
    try {
      const headers = { ...(lastEventId !== '' && { 'last-event-id': lastEventId }) };
      const body = await transport.send('GET', '/events', { headers, signal }, bodyOf);
      onConnect?.();
      wasConnected = true;
      for await (const { id, event, data } of parse(chunksOf(body, signal))) {
        failures = 0;
        lastEventId = id ?? lastEventId;
        if (data !== '' && !isOver())
          yield { id: lastEventId, type: event as StatusEvent['type'], message: messageIn(data) };
      }
    } catch (caught) {
      if (isOver()) return;
      if (!wasConnected || !(caught instanceof SluiceError)) throw caught;
      // The server may not have noticed yet that the last connection is gone.
      if (!caught.isRetryable && caught.code !== 'too_many_streams') throw caught;
      error = caught;
    }
    if (isOver()) return;
    onDisconnect?.(error);
    await sleep(RECONNECT_MS + backoffMs(failures + 1), signal).catch(() => undefined);
  }
}

const RECONNECT_MS = 500;

/** The page of a proxy would end at once, again and again. */
function bodyOf({ body, headers, status }: Response): ReadableStream<Uint8Array> {
  if (body && !('getReader' in body)) {
    // Of Node.js, by a `fetch` that was passed: it would stay open.
    (body as { destroy?: () => void }).destroy?.();
    throw unexpected('no web stream: pass a fetch that has them.', status);
  }
  if (body && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) return body;
  body?.cancel().catch(() => undefined);
  throw unexpected('no event stream of Sluice: check baseUrl (https?) and proxies.', status);
}

/** The text of a body as it arrives; ends when the connection does. */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // Also ends a read that is pending.
  const close = () => {
    reader.cancel().catch(() => undefined);
  };
  const ignore = onAbort(signal, close);
  try {
    for (;;) {
      const timer = setTimeout(close, SILENCE_MS);
      const { done, value } = await reader
        .read()
        .catch(() => ({ done: true, value: undefined }))
        .finally(() => {
          clearTimeout(timer);
        });
      if (done || signal?.aborted === true) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    ignore();
    close();
  }
}

/** The largest message has 262,144 bytes, each of which may be an escape of six characters. */
const MAX_EVENT_LENGTH = 8_000_000;

/** What can't be read is reported like a connection that was lost, and the stream goes on after it. */
function messageIn(data: string): Message {
  try {
    return objectIn(data) as Message;
  } catch (cause) {
    throw unexpected('an event is no message.', 200, cause);
  }
}

interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Server-sent events; also blocks with nothing but an `id`. One that is incomplete at the end is dropped. */
async function* parse(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent, void, undefined> {
  let id: string | undefined;
  let event: string | undefined;
  let data: string[] = [];
  let length = 0;
  for await (const lines of linesOf(chunks)) {
    for (const line of lines) {
      length += line.length;
      if (length > MAX_EVENT_LENGTH) throw unexpected('an event is longer than any of Sluice.', 200);
      const [, name, value = ''] = /^([^:]*):? ?([^]*)$/.exec(line) ?? [];
      if (line === '') {
        yield { id, event, data: data.join('\n') };
        id = event = undefined;
        data = [];
        length = 0;
      } else if (name === 'id') {
        // Others do not fit into a header.
        if (/^[ -~]*$/.test(value)) id = value;
      } else if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
    }
  }
}

/** Lines, which only CR LF, LF and CR end. Those of a chunk together: one by one, each would take microseconds more. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string[], void, undefined> {
  let line = '';
  let isAfterCr = false;
  for await (const chunk of chunks) {
    if (chunk === '') continue;
    const lines = (isAfterCr ? chunk.replace(/^\n/, '') : chunk).split(/\r\n|\r|\n/);
    lines[0] = line + (lines[0] ?? '');
    isAfterCr = chunk.endsWith('\r');
    line = lines.pop() ?? '';
    if (line.length > MAX_EVENT_LENGTH) throw unexpected('an event is longer than any of Sluice.', 200);
    yield lines;
  }
}
