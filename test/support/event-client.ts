import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Account, Key, TestApi } from './api.js';
import { until } from './processes.js';

interface ReceivedEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };
}

/** A client of `GET /events`. */
export class EventClient {
  private text = '';
  private ended = false;

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => (this.text += chunk));
    response.on('error', () => undefined);
    response.on('close', () => (this.ended = true));
  }

  /** Resolves when the stream is open. */
  static async open(api: TestApi, { key }: Exclude<Key, string> | Account, lastEventId?: string): Promise<EventClient> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const outgoing = request(`${api.url}/events`, { headers, agent: false });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`The response is ${response.statusCode}.`);
    return new EventClient(response);
  }

  /** Everything that it got, but for what follows the last complete event. */
  get blocks(): string[] {
    return this.text.split('\n\n').slice(0, -1);
  }

  get events(): ReceivedEvent[] {
    return this.blocks.flatMap((block) => {
      const [, event = '', id = '', data = ''] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return event === '' ? [] : [{ event, id, data: JSON.parse(data) as ReceivedEvent['data'] }];
    });
  }

  /** As a client would send it to resume: also of a block without an event. */
  get lastEventId(): string {
    return /^id: (.*)$/m.exec(this.blocks.findLast((block) => /^id: /m.test(block)) ?? '')?.[1] ?? '';
  }

  /** What the events tell of one message. */
  statusesOf(id: string): string[] {
    return this.events.filter(({ data }) => data.id === id).map(({ data }) => data.status);
  }

  /** Resolves when it has got this many events. */
  async received(count: number): Promise<ReceivedEvent[]> {
    await until(
      () => this.events.length >= count,
      120_000,
      () => JSON.stringify(this.blocks),
    );
    return this.events;
  }

  /** Resolves when the server has ended the stream. */
  async end(): Promise<void> {
    await until(() => this.ended);
  }

  close(): void {
    this.response.destroy();
  }
}
