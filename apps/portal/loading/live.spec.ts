/** When a page of the portal holds its stream of events. */

class FakeDocument extends EventTarget {
  visibilityState = 'visible';

  querySelector(): null {
    return null;
  }

  turn(visibilityState: string): void {
    this.visibilityState = visibilityState;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

describe('The stream of a page', () => {
  const KEY = { id: 'key_1', name: 'CI', scopes: ['messages:read'], expiresAt: null };
  const EVENT = 'id: 7-8-9\nevent: message.queued\ndata: {"id":"msg_1","updatedAt":"2026-01-01T00:00:00Z"}\n\n';

  let page: FakeDocument;
  /** Takes the place of the next stream. */
  let refusal: Response | null;
  /** Of each stream: where it began, and whether it is open. */
  let streams: { readonly after: string | null; isOpen: boolean }[];
  const areOpen = () => streams.map(({ isOpen }) => isOpen);
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    jest.resetModules();
    [page, streams, refusal] = [new FakeDocument(), [], null];
    const nothing = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
    const globals = {
      BroadcastChannel: undefined,
      window: { sessionStorage: nothing, localStorage: nothing },
      ...{ location: { origin: 'https://portal.example.com' }, document: page, addEventListener: () => undefined },
      fetch: (url: string, { headers }: { headers: Headers }) => {
        if (!url.endsWith('/events')) return Promise.resolve(new Response(JSON.stringify(KEY)));
        if (refusal !== null) {
          const refused = Promise.resolve(refusal);
          refusal = null;
          return refused;
        }
        const stream = { after: headers.get('last-event-id'), isOpen: true };
        streams.push(stream);
        const body = new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode(EVENT));
          },
          cancel: () => {
            stream.isOpen = false;
          },
        });
        return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
      },
    };
    for (const [name, value] of Object.entries(globals)) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const signIn = async () => {
    const { signIn, signOut } = await import('../session/session.js');
    const { liveState } = await import('./live.js');
    await signIn('slc_1');
    await pass(0);
    return { signOut, liveState };
  };

  it('ends a while after the page is hidden, and goes on where it was when the page is seen again', async () => {
    const { signOut, liveState } = await signIn();
    expect([areOpen(), liveState.value]).toEqual([[true], 'live']);
    page.turn('hidden');
    await pass(1_000);
    page.turn('visible');
    await pass(60_000);
    page.turn('hidden');
    await pass(4_000);
    const before = streams.length;
    expect(areOpen().at(-1)).toBe(true);
    await pass(2_000);
    expect([areOpen().includes(true), liveState.value]).toEqual([false, 'off']);
    await pass(600_000);
    expect(streams).toHaveLength(before);
    page.turn('visible');
    await pass(0);
    expect([streams.at(-1)?.after, areOpen().at(-1), liveState.value]).toEqual(['7-8-9', true, 'live']);
    signOut();
  });

  it('begins after a proxy has refused it', async () => {
    refusal = new Response('<html>', { status: 401 });
    const { signOut, liveState } = await signIn();
    expect([areOpen(), liveState.value]).toEqual([[], 'lost']);
    await pass(6_000);
    expect([areOpen(), liveState.value]).toEqual([[true], 'live']);
    signOut();
  });

  it('does not begin in a page that is opened behind others', async () => {
    page.visibilityState = 'hidden';
    const { signOut } = await signIn();
    expect(streams).toEqual([]);
    page.turn('visible');
    await pass(0);
    expect(areOpen()).toEqual([true]);
    signOut();
  });
});
