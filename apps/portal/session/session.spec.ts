/** What a page of the portal keeps, and sends, without its views. */

const ORIGIN = 'https://portal.example.com';
const PROFILE = { id: 'acct_1', name: 'Acme', plan: 'free' };
/** No stream of events: that needs `messages:read`. */
const KEY = { id: 'key_1', name: 'CI', scopes: ['messages:send', 'account:manage'] };

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter?: number;
}

const ok = (body: unknown): Answer => ({ status: 200, body });
const problem = (status: number, code: string, retryAfter?: number): Answer => ({
  ...{ status, body: { code, detail: `It is ${code}.` } },
  ...(retryAfter !== undefined && { retryAfter }),
});
/** From a proxy: the body is no problem document. */
const page = (status: number): Answer => ({ status, body: '<html>' });
const NEW = { ...KEY, key: 'slc_new' };
const serve = (path: string): Answer => {
  if (path === '/account') return ok(PROFILE);
  if (path === '/accounts') return ok({ ...PROFILE, apiKey: NEW });
  return ok(path.includes('portal') ? NEW : KEY);
};
const OUT = { kind: 'out', key: 'slc_right', isRefused: false };

/** As much of a browser's storage as the portal uses, with all that was ever kept. */
class FakeStorage {
  readonly items = new Map<string, string>();
  readonly everKept: string[] = [];

  getItem(name: string): string | null {
    return this.items.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    this.everKept.push(value);
    this.items.set(name, value);
  }

  removeItem(name: string): void {
    this.items.delete(name);
  }
}

type Listener = (event: { readonly data: unknown }) => void;

/** The channel between the tabs of one browser, without its delays. */
class FakeChannel {
  static open: FakeChannel[] = [];
  onmessage: Listener | null = null;

  constructor() {
    FakeChannel.open.push(this);
  }

  postMessage(data: unknown): void {
    for (const other of FakeChannel.open) if (other !== this) other.onmessage?.({ data });
  }
}

describe('A page of the portal', () => {
  let answer: (path: string, method: string) => Answer | Promise<Answer>;
  let onPageShow: (event: { readonly persisted: boolean }) => void;
  let asked: string[];
  let keysSent: (string | null)[];
  let tab: FakeStorage;
  let browser: FakeStorage;

  /** The page as it is after a reload. */
  async function load() {
    FakeChannel.open = [];
    return another();
  }

  /** A further tab of the same browser. */
  async function another() {
    jest.resetModules();
    const session = await import('./session.js');
    const [connection, { issued }] = [await import('./connection.js'), await import('./issued.js')];
    return { ...session, ...connection, ...(await import('./account.js')), issued, draft: await import('../draft.js') };
  }
  type Portal = Awaited<ReturnType<typeof load>>;
  let open: Portal;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    [answer, asked, keysSent, tab, browser] = [serve, [], [], new FakeStorage(), new FakeStorage()];
    const globals = {
      BroadcastChannel: FakeChannel,
      window: { sessionStorage: tab, localStorage: browser },
      ...{ location: { origin: ORIGIN }, document: { querySelector: () => null, addEventListener: () => undefined } },
      addEventListener: (_name: string, listener: typeof onPageShow) => (onPageShow = listener),
      fetch: async (url: string, { method, headers }: { method: string; headers: Headers }) => {
        const path = new URL(url).pathname;
        asked.push(path);
        keysSent.push(headers.get('idempotency-key'));
        const { status, body, retryAfter } = await answer(path, method);
        const more = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
        return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers: more });
      },
    };
    for (const [name, value] of Object.entries(globals)) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
    open = await load();
  });
  afterEach(() => {
    open.signOut();
    jest.useRealTimers();
  });

  it('keeps a key in the session of its tab only, and only once it is known to be valid', async () => {
    answer = () => problem(401, 'unauthorized');
    await expect(open.signIn('slc_wrong')).rejects.toMatchObject({ code: 'unauthorized' });
    expect([open.apiKey.value, open.scopes.value, tab.everKept]).toEqual([null, null, []]);
    answer = serve;
    await open.signIn('slc_right');
    expect(tab.items.get('sluice.key')).toBe('slc_right');
    expect(browser.everKept).toEqual([]);
    expect([open.can('messages:send'), open.can('messages:read'), open.account.value?.name]).toEqual([
      ...[true, false],
      'Acme',
    ]);
  });

  it('forgets all of an account when it is signed out', async () => {
    await open.signUp('Acme');
    open.draft.addSent({ id: 'msg_1', status: 'queued', createdAt: '2026-01-01T00:00:00Z' } as never);
    open.signOut('Bye.');
    expect([open.apiKey, open.scopes, open.account, open.firstKey].map(({ value }) => value)).toEqual(
      Array(4).fill(null),
    );
    expect([open.draft.sent.value, open.rateLimit.value, open.notice.value]).toEqual([[], null, 'Bye.']);
    expect([...tab.items, ...browser.everKept].join()).not.toContain('slc_');
    open = await load();
    expect([open.apiKey.value, open.account.value, open.isResuming.value]).toEqual([null, null, false]);
  });

  it('signs up once, also when the response was lost', async () => {
    answer = () => {
      throw new TypeError('Failed to fetch');
    };
    await expect(open.signUp('Acme')).rejects.toMatchObject({ code: 'connection_failed' });
    answer = serve;
    await open.signUp('Acme');
    const [first, second] = keysSent;
    expect([first, typeof first]).toEqual([second, 'string']);
  });

  describe('that gets a response of a proxy', () => {
    const fails = (work: () => Promise<unknown>) =>
      expect(work()).rejects.toMatchObject({ code: 'unexpected_response' });
    const look = () => jest.advanceTimersByTimeAsync(0);

    it.each([200, 401, 403, 404, 502, 503])('with status %i stays signed in, and goes on after it', async (status) => {
      await open.signIn('slc_right', true);
      await open.signUp('Acme');
      open.keepSignedIn(true);
      const other = await another();
      await other.findScopes();
      answer = () => page(status);
      await fails(() => open.loadAccount());
      await look();
      expect([open.apiKey.value, open.firstKey.value?.key, other.apiKey.value]).toEqual(Array(3).fill('slc_new'));
      expect([browser.items.get('sluice.key'), open.outage.value?.status]).toEqual(['slc_new', status]);
      await jest.advanceTimersByTimeAsync(10_000);
      expect([open.outage.value?.status, open.revival.value]).toEqual([status, 0]);
      answer = serve;
      await jest.advanceTimersByTimeAsync(3_000);
      expect([open.outage.value, open.revival.value]).toEqual([null, 1]);
    });

    it.each([401, 403, 502])('with status %i to one request only is not away', async (status) => {
      await open.signIn('slc_right');
      answer = (path) => (path === '/account' ? page(status) : serve(path));
      await fails(() => open.loadAccount());
      await look();
      expect([open.apiKey.value, open.outage.value, open.revival.value]).toEqual(['slc_right', null, 0]);
    });

    it('takes no key for refused', async () => {
      const refusals = [page(401), problem(401, 'unauthorized')].map(async (refusal) => {
        answer = () => refusal;
        return open.signIn('slc_right').catch(open.isKeyRefused);
      });
      expect(await Promise.all(refusals)).toEqual([false, true]);
    });

    it('stays signed in also when its key should have expired', async () => {
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      answer = (path) => (path === '/account' ? serve(path) : ok({ ...KEY, expiresAt }));
      await open.signIn('slc_link');
      answer = () => page(401);
      await jest.advanceTimersByTimeAsync(70_000);
      expect([open.apiKey.value, open.outage.value?.status]).toEqual(['slc_link', 401]);
    });

    it('keeps the key of operators', async () => {
      jest.resetModules();
      const operators = await import('../operators/session.js');
      const { call, lookAgain, outage } = await import('./connection.js');
      answer = () => ok({ data: [], nextCursor: null });
      await operators.signIn('right');
      answer = () => page(401);
      await fails(() => call((client) => client.admin.bans.list().page()));
      await lookAgain();
      expect([operators.isSignedIn.value, outage.value?.status]).toEqual([true, 401]);
      operators.signOut('Bye.');
    });
  });

  it('keeps its state over a reload, also while requests are refused', async () => {
    await open.signIn('slc_right');
    answer = () => problem(429, 'rate_limit_exceeded', 60);
    open = await load();
    expect([open.apiKey.value, open.can('messages:send'), open.account.value?.name]).toEqual([
      ...['slc_right', true],
      'Acme',
    ]);
  });

  it.each(['not JSON', '', 'null'])(
    'asks for the scopes of the key when its stored state is damaged: %j',
    async (profile) => {
      tab.items.set('sluice.key', 'slc_right').set('sluice.profile', profile);
      open = await load();
      expect([open.isResuming.value, open.scopes.value]).toEqual([true, null]);
      await open.findScopes();
      expect([open.isResuming.value, open.can('messages:send')]).toEqual([false, true]);
    },
  );

  it('is signed out, and says why, when its key is refused', async () => {
    await open.signIn('slc_right');
    answer = () => problem(401, 'unauthorized');
    await expect(open.call((client) => client.account.get())).rejects.toMatchObject({ status: 401 });
    expect([open.apiKey.value, open.account.value, tab.items.size]).toEqual([null, null, 0]);
    expect(open.notice.value).toContain('no longer works');
  });

  /** Begins a request, and answers all others as usual meanwhile. @returns gives it its response */
  async function slowly<T>(work: () => Promise<T>): Promise<{ late: Promise<T>; respond: (answer?: Answer) => void }> {
    let respond = (): void => undefined;
    let given: Answer | undefined;
    answer = async (path) => {
      answer = serve;
      await new Promise<void>((resolve) => (respond = resolve));
      return given ?? serve(path);
    };
    const late = work();
    late.catch(() => undefined);
    while (answer !== serve) await Promise.resolve();
    return {
      late,
      respond: (response) => {
        given = response;
        respond();
      },
    };
  }

  const stateOf = ({ apiKey, scopes, account, ownKeyId, firstKey, isKept, notice, issued, draft }: Portal) =>
    JSON.stringify([
      ...[apiKey.value, [...(scopes.value ?? [])], account.value, ownKeyId.value, firstKey.value, isKept.value],
      ...[notice.value, issued.value, draft.sent.value, draft.text.value, [...tab.items], [...browser.items]],
    ]);

  describe('changes nothing after', () => {
    const OTHER = { ...KEY, id: 'key_9', key: 'slc_rotated', scopes: ['messages:read'] };

    it.each<[string, Answer, () => Promise<unknown>]>([
      ['a refusal', problem(401, 'unauthorized'), () => open.call((client) => client.account.get())],
      ['a limit', problem(429, 'rate_limit_exceeded', 60), () => open.call((client) => client.account.get())],
      ['an account', ok({ ...PROFILE, name: 'Late' }), () => open.loadAccount()],
      ['a change', ok({ ...PROFILE, name: 'Late', paused: true }), () => open.changeAccount({ paused: true })],
      ['scopes', ok(OTHER), () => open.findScopes()],
      ['a rotated key', ok(OTHER), () => open.rotateKey('key_1', 0)],
      [
        'a message',
        ok({ id: 'msg_1', status: 'queued', createdAt: '2026-01-01T00:00:00Z' }),
        async () => {
          open.draft.addSent(await open.call((client) => client.messages.send('late')));
        },
      ],
    ])('%s of a session that has ended', async (_what, response, work) => {
      await open.signIn('slc_one');
      const { late, respond } = await slowly(work);
      open.signOut();
      await open.signIn('slc_other');
      const before = stateOf(open);
      respond(response);
      await expect(late).rejects.toThrow(open.SessionEndedError);
      expect([stateOf(open), open.pause.value, open.apiKey.value]).toEqual([before, null, 'slc_other']);
    });

    it.each<[string, Answer, () => Promise<void>]>([
      ['a refused sign-in, when somebody has signed up', problem(401, 'unauthorized'), () => open.signUp('Acme')],
      ['a refused sign-in, when a link was opened', problem(401, 'unauthorized'), () => open.openLink('slp_1')],
      ['a sign-in, when somebody has signed up', ok({ ...KEY, id: 'key_9' }), () => open.signUp('Acme')],
    ])('%s meanwhile', async (_what, response, enter) => {
      const { late, respond } = await slowly(() => open.signIn('slc_one', true));
      await enter();
      await jest.advanceTimersByTimeAsync(0);
      const before = stateOf(open);
      respond(response);
      await expect(late).rejects.toThrow(open.SessionEndedError);
      expect([stateOf(open), open.apiKey.value, browser.everKept]).toEqual([before, 'slc_new', []]);
    });

    it('a refused sign-in of an operator, who has another key meanwhile', async () => {
      jest.resetModules();
      const operators = await import('../operators/session.js');
      const connection = await import('./connection.js');
      const { late, respond } = await slowly(() => operators.signIn('slow'));
      answer = () => ok({ data: [], nextCursor: null });
      await operators.signIn('right');
      respond(problem(401, 'unauthorized'));
      await expect(late).rejects.toThrow(connection.SessionEndedError);
      expect([operators.isSignedIn.value, connection.apiKey.value]).toEqual([true, 'right']);
    });
  });

  describe('loses no key that is shown once:', () => {
    const secrets = () => open.issued.value.map(({ secret }) => secret);

    it('that of a sign-up, when somebody has signed in meanwhile', async () => {
      const { late, respond } = await slowly(() => open.signUp('Acme'));
      await open.signIn('slc_other');
      respond();
      await expect(late).rejects.toThrow(open.SessionEndedError);
      expect([open.apiKey.value, open.firstKey.value, secrets()]).toEqual(['slc_other', null, ['slc_new']]);
    });

    it('the first one of an account, when a link is opened', async () => {
      await open.signUp('Acme');
      await open.openLink('slp_1');
      expect([open.firstKey.value, secrets()]).toEqual([null, ['slc_new']]);
    });

    it('the first one of an account, when it is refused', async () => {
      await open.signUp('Acme');
      answer = () => problem(401, 'unauthorized');
      await expect(open.loadAccount()).rejects.toMatchObject({ status: 401 });
      expect([open.apiKey.value, open.firstKey.value, secrets()]).toEqual([null, null, ['slc_new']]);
    });

    it('the one that replaces its own, which is refused before the response is there', async () => {
      await open.signIn('slc_right');
      const { late, respond } = await slowly(() => open.rotateKey('key_1', 0));
      answer = () => problem(401, 'unauthorized');
      await expect(open.loadAccount()).rejects.toMatchObject({ status: 401 });
      respond(ok({ ...KEY, id: 'key_2', key: 'slc_next' }));
      await late;
      expect([open.apiKey.value, open.ownKeyId.value]).toEqual(['slc_next', 'key_2']);
    });

    it('the one that has replaced its own, which is refused then', async () => {
      await open.signIn('slc_right');
      const { late, respond } = await slowly(() => open.loadAccount());
      answer = () => ok({ ...KEY, id: 'key_2', key: 'slc_next' });
      await open.rotateKey('key_1', 0);
      respond(problem(401, 'unauthorized'));
      await expect(late).rejects.toMatchObject({ status: 401 });
      expect(open.apiKey.value).toBe('slc_next');
    });
  });

  describe('shows the latest state of the account, when', () => {
    const paused = { ...PROFILE, paused: true };
    const renamed = { ...PROFILE, name: 'New' };

    it.each<[string, () => Promise<unknown>, Answer]>([
      ['it was paused while it was loaded', () => open.loadAccount(), ok(PROFILE)],
      ['it was paused while it was renamed', () => open.changeAccount({ name: 'New' }), ok(renamed)],
    ])('%s', async (_when, work, response) => {
      await open.signIn('slc_right');
      const { late, respond } = await slowly(work);
      answer = () => ok(paused);
      await open.changeAccount({ paused: true });
      answer = () => ok({ ...renamed, paused: true });
      respond(response);
      await late;
      expect(open.account.value).toEqual({ ...renamed, paused: true });
    });
  });

  it('sends nothing while its limit is used up, and does not block another key', async () => {
    await open.signIn('slc_one');
    answer = () => problem(429, 'rate_limit_exceeded', 60);
    await expect(open.call((client) => client.account.get())).rejects.toMatchObject({ status: 429 });
    asked = [];
    await expect(open.call((client) => client.account.get())).rejects.toMatchObject({ status: 429 });
    expect(asked).toEqual([]);
    jest.advanceTimersByTime(60_500);
    expect([open.pause.value, open.revival.value]).toEqual([null, 1]);
    await expect(open.call((client) => client.account.get())).rejects.toMatchObject({ status: 429 });
    expect(asked).toEqual(['/account']);
    open.signOut();
    answer = serve;
    await open.signIn('slc_other');
    expect([open.apiKey.value, open.pause.value]).toEqual(['slc_other', null]);
  });

  it('is held back for as long as timers can be set for, however long a refusal asks for', async () => {
    await open.signIn('slc_one');
    answer = () => problem(429, 'rate_limit_exceeded', 40 * 86_400);
    await expect(open.call((client) => client.account.get())).rejects.toMatchObject({ status: 429 });
    jest.advanceTimersByTime(20 * 86_400_000);
    expect(open.pause.value).not.toBeNull();
  });

  it('is signed out when its key expires, also after a reload, although nobody asks for anything', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    answer = (path) => (path === '/account' ? serve(path) : ok({ ...KEY, expiresAt }));
    await open.signIn('slc_link');
    open = await load();
    jest.advanceTimersByTime(50_000);
    expect([open.apiKey.value, asked.at(-1)]).toEqual(['slc_link', '/account']);
    answer = () => problem(401, 'unauthorized');
    await jest.advanceTimersByTimeAsync(20_000);
    expect([open.apiKey.value, open.scopes.value]).toEqual([null, null]);
  });

  it.each([
    ['has no channel', undefined],
    [
      'blocks it',
      class {
        constructor() {
          throw new Error('SecurityError');
        }
      },
    ],
  ])('works in a browser that %s between tabs', async (_what, value) => {
    Object.defineProperty(globalThis, 'BroadcastChannel', { value, configurable: true, writable: true });
    open = await load();
    await open.signIn('slc_right');
    expect(open.apiKey.value).toBe('slc_right');
  });

  it.each([
    ['an account', () => open.call((client) => client.account.get())],
    ['a change of the account', () => open.call((client) => client.account.update({ paused: true }))],
    ['a rotated key', () => open.call((client) => client.account.keys.rotate('key_1'))],
    ['a sign-up', () => open.signUp('Acme')],
    ['a link', () => open.openLink('slp_1')],
  ])('does not take other JSON for %s', async (_what, ask) => {
    await open.signIn('slc_right');
    answer = () => ok({ data: null, message: 'from a proxy' });
    await expect(ask()).rejects.toMatchObject({ code: 'unexpected_response' });
    expect([open.apiKey.value, open.account.value?.name]).toEqual(['slc_right', 'Acme']);
  });

  describe('with another tab', () => {
    /** The other tab has a session of its own. */
    const openAnother = async () => {
      Object.defineProperty(globalThis, 'window', {
        value: { sessionStorage: new FakeStorage(), localStorage: browser },
        ...{ configurable: true, writable: true },
      });
      return another();
    };

    it.each(['before', 'after'])(
      'shares a sign-in that was made %s, and keeps it in no storage of the browser',
      async (when) => {
        if (when === 'before') await open.signIn('slc_right');
        const other = await openAnother();
        if (when === 'after') await open.signIn('slc_right');
        expect([other.apiKey.value, other.isResuming.value]).toEqual(['slc_right', true]);
        await other.findScopes();
        expect([other.can('messages:send'), other.isResuming.value]).toEqual([true, false]);
        expect(browser.everKept).toEqual([]);
      },
    );

    it('is signed out with it, and takes its next key', async () => {
      await open.signIn('slc_right');
      const other = await openAnother();
      await other.findScopes();
      answer = () => ok({ ...KEY, id: 'key_2', key: 'slc_next' });
      await open.rotateKey('key_1', 0);
      expect([other.apiKey.value, other.ownKeyId.value]).toEqual(['slc_next', 'key_2']);
      other.signOut('Bye.');
      expect([open.apiKey.value, open.scopes.value, open.notice.value]).toEqual([null, null, 'You are signed out.']);
    });

    describe('whose response to a rotation is late,', () => {
      const rotated = ok({ ...KEY, id: 'key_2', key: 'slc_next' });

      /** A key that is refused in another tab before the response is there, and what that one does then. */
      async function rotate(keep: boolean, act: (other: Portal) => Promise<void> | void = () => undefined) {
        await open.signIn('slc_right', keep);
        const others = [await openAnother(), await openAnother()] as const;
        for (const other of others) await other.findScopes();
        const { late, respond } = await slowly(() => open.rotateKey('key_1', 0));
        answer = () => problem(401, 'unauthorized');
        await expect(others[0].loadAccount()).rejects.toMatchObject({ status: 401 });
        await act(others[0]);
        answer = serve;
        respond(rotated);
        await late;
        return others;
      }

      it.each([true, false])('goes on with the next key, as all others do (kept in the browser: %s)', async (keep) => {
        for (const other of await rotate(keep)) {
          expect([other.apiKey.value, other.isResuming.value, other.notice.value]).toEqual(['slc_next', true, '']);
          await other.findScopes();
          expect([other.can('messages:send'), other.isKept.value]).toEqual([true, keep]);
        }
        expect(browser.items.get('sluice.key')).toBe(keep ? 'slc_next' : undefined);
      });

      it.each<[string, string | null, (other: Portal) => Promise<void> | void]>([
        [
          'has signed out',
          null,
          (other) => {
            other.signOut();
          },
        ],
        [
          'has another key',
          'slc_other',
          async (other) => {
            answer = serve;
            await other.signIn('slc_other');
          },
        ],
      ])('changes nothing in one that %s meanwhile', async (_what, expected, act) => {
        const [other] = await rotate(false, act);
        expect(other.apiKey.value).toBe(expected);
      });
    });

    it.each(['here', 'there'])('shows no first key any more that was replaced %s', async (where) => {
      await open.signUp('Acme');
      const other = await openAnother();
      await other.findScopes();
      answer = () => ok({ ...KEY, id: 'key_2', key: 'slc_next' });
      await (where === 'here' ? open : other).rotateKey('key_1', 3_600);
      expect([open.apiKey.value, open.firstKey.value]).toEqual(['slc_next', null]);
    });

    it('shows no first key either that was refused while it was replaced there', async () => {
      await open.signUp('Acme');
      const other = await openAnother();
      await other.findScopes();
      const { late, respond } = await slowly(() => other.rotateKey('key_1', 0));
      answer = () => problem(401, 'unauthorized');
      await expect(open.loadAccount()).rejects.toMatchObject({ status: 401 });
      answer = serve;
      respond(ok({ ...KEY, id: 'key_2', key: 'slc_next' }));
      await late;
      expect([open.apiKey.value, open.issued.value]).toEqual(['slc_next', []]);
    });

    it('has a session of its own with another key', async () => {
      await open.signIn('slc_right');
      const other = await openAnother();
      other.signOut();
      await other.signIn('slc_other');
      await open.signIn('slc_right');
      expect([open.apiKey.value, other.apiKey.value]).toEqual(['slc_right', 'slc_other']);
      other.signOut();
      expect(open.apiKey.value).toBe('slc_right');
    });
  });

  describe('while it is away', () => {
    /** A tab that shows a page elsewhere: it hears nothing, and another one goes on with what it does. */
    async function elsewhere(act: (other: Portal) => Promise<void> | void): Promise<void> {
      const [pageShow, channels] = [onPageShow, FakeChannel.open];
      FakeChannel.open = [];
      const own = { value: window, configurable: true, writable: true };
      Object.defineProperty(globalThis, 'window', {
        value: { sessionStorage: new FakeStorage(), localStorage: browser },
        ...{ configurable: true, writable: true },
      });
      const other = await another();
      await other.signIn('slc_right');
      await act(other);
      Object.defineProperty(globalThis, 'window', own);
      [onPageShow, FakeChannel.open] = [pageShow, channels];
    }

    it.each(['loads it again', 'has kept it'])('is signed out, as when it is back and the browser %s', async (how) => {
      await open.signIn('slc_right');
      await elsewhere((other) => {
        other.signOut();
      });
      if (how === 'has kept it') onPageShow({ persisted: true });
      else open = await load();
      expect([open.apiKey.value, open.scopes.value, open.notice.value]).toEqual([null, null, 'You are signed out.']);
      expect(tab.items.size).toBe(0);
    });

    it.each<[string, (other: Portal) => Promise<void> | void]>([
      [
        'another key',
        async (other) => {
          await other.signIn('slc_other');
          other.signOut();
        },
      ],
      [
        'the same key, which somebody has signed in with again',
        async (other) => {
          other.signOut();
          await other.signIn('slc_right');
        },
      ],
    ])('stays signed in after a sign-out of %s', async (_what, act) => {
      await open.signIn('slc_right');
      await elsewhere(act);
      open = await load();
      expect(open.apiKey.value).toBe('slc_right');
    });

    it('keeps a first key that is not stored yet', async () => {
      await open.signUp('Acme');
      await elsewhere(async (other) => {
        await other.signIn('slc_new');
        other.signOut();
      });
      onPageShow({ persisted: true });
      open = await load();
      expect(open.firstKey.value?.key).toBe('slc_new');
    });

    it('has left the key that another one has replaced', async () => {
      await open.signIn('slc_right');
      await elsewhere(async (other) => {
        answer = () => ok({ ...KEY, id: 'key_2', key: 'slc_next' });
        await other.rotateKey('key_1', 3_600);
      });
      open = await load();
      expect(open.apiKey.value).toBeNull();
    });
  });

  it('keeps no other sign-in either, once somebody who has opened a link signs out', async () => {
    await open.signIn('slc_right', true);
    await open.openLink('slp_1');
    expect(browser.items.get('sluice.key')).toBe('slc_right');
    open.signOut();
    open = await load();
    expect([open.apiKey.value, browser.items.has('sluice.key')]).toEqual([null, false]);
  });

  describe('does not keep a key again after a sign-out in another tab', () => {
    const isKeptAgain = async () => {
      await open.loadAccount();
      await open.findScopes();
      open.firstKey.value = null;
      return [browser.items.has('sluice.key'), open.isKept.value];
    };

    it('that kept another key since', async () => {
      await open.signIn('slc_right', true);
      const other = await another();
      await other.openLink('slp_1');
      other.keepSignedIn(true);
      expect([open.isKept.value, browser.items.get('sluice.key')]).toEqual([false, 'slc_new']);
      await open.loadAccount();
      expect(browser.items.get('sluice.key')).toBe('slc_new');
      other.signOut();
      expect(await isKeptAgain()).toEqual([false, false]);
    });

    it('while the first key is not stored yet', async () => {
      await open.signUp('Acme');
      open.keepSignedIn(true);
      const other = await another();
      await other.findScopes();
      other.signOut();
      expect([open.apiKey.value, open.firstKey.value?.key]).toEqual(['slc_new', 'slc_new']);
      expect(await isKeptAgain()).toEqual([false, false]);
    });

    it('while the key is rotated', async () => {
      await open.signIn('slc_right', true);
      const other = await another();
      await other.findScopes();
      answer = (path) => (path.includes('rotate') ? ok({ ...NEW, id: 'key_2' }) : serve(path));
      const rotating = open.rotateKey('key_1', 0);
      other.signOut();
      await rotating;
      expect(await isKeptAgain()).toEqual([false, false]);
    });
  });

  it('keeps a key in the browser if the visitor wants that, until the visitor is signed out', async () => {
    await open.signIn('slc_right', true);
    expect([...browser.items]).toEqual([['sluice.key', 'slc_right']]);
    tab.items.clear();
    open = await load();
    expect([open.apiKey.value, open.isKept.value, open.isResuming.value]).toEqual(['slc_right', true, true]);
    await open.findScopes();
    open.keepSignedIn(false);
    expect([[...browser.items], tab.items.get('sluice.key')]).toEqual([[], 'slc_right']);
    open.keepSignedIn(true);
    open.signOut();
    expect([browser.items.has('sluice.key'), tab.items.size]).toEqual([false, 0]);
  });

  it('shows the first key of an account also after a reload, until it is stored', async () => {
    await open.signUp('Acme');
    open = await load();
    expect(open.firstKey.value?.key).toBe('slc_new');
    open.firstKey.value = null;
    open = await load();
    expect(open.firstKey.value).toBeNull();
  });

  it('works without any storage', async () => {
    Object.defineProperty(globalThis, 'window', { value: {}, configurable: true, writable: true });
    open = await load();
    await open.signIn('slc_right');
    expect(open.can('messages:send')).toBe(true);
  });

  it('keeps the key of operators only while it is valid', async () => {
    jest.resetModules();
    const operators = await import('../operators/session.js');
    answer = () => problem(401, 'unauthorized');
    await expect(operators.signIn('wrong')).rejects.toMatchObject({ status: 401 });
    expect([operators.isSignedIn.value, tab.everKept, browser.everKept]).toEqual([false, [], []]);
    answer = () => ok({ data: [], nextCursor: null });
    await operators.signIn('right');
    expect([...tab.items]).toEqual([['sluice.operators-key', 'right']]);
    operators.signOut('Bye.');
    expect((await import('./connection.js')).apiKey.value).toBeNull();
    expect([operators.isSignedIn.value, tab.items.size, browser.everKept]).toEqual([false, 0, []]);
  });

  describe('while a message is composed', () => {
    const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
    const message = (status: string, second: number) =>
      ({ id: 'msg_1', status, createdAt: at(0), updatedAt: at(second) }) as never;

    it('repeats nothing of the visitor before', async () => {
      const { mayBeDone, once } = await import('../loading/once.js');
      await open.signIn('slc_right');
      answer = () => problem(503, 'unavailable');
      const content = { message: 'once' };
      await once(content, () => open.call((client) => client.messages.send(content))).catch(() => undefined);
      expect(mayBeDone(content)).toBe(true);
      open.signOut();
      expect(mayBeDone(content)).toBe(false);
    });

    const hear = (word: unknown) => FakeChannel.open[0]?.onmessage?.({ data: word });
    it.each<[string, () => unknown, boolean]>([
      [
        'discards it when the visitor signs out',
        () => {
          open.signOut();
        },
        true,
      ],
      ['discards it when another tab signs out', () => hear(OUT), true],
      ['discards it when a link is opened', () => open.openLink('slp_1'), true],
      [
        'keeps it when the key is refused',
        async () => {
          answer = () => problem(401, 'unauthorized');
          await open.loadAccount().catch(() => undefined);
        },
        false,
      ],
      [
        'keeps it when the key was refused in another tab, and a sign-in fails',
        async () => {
          hear({ ...OUT, isRefused: true });
          answer = () => problem(401, 'unauthorized');
          await open.signIn('slc_wrong').catch(() => undefined);
        },
        false,
      ],
    ])('%s', async (_what, act, isDiscarded) => {
      await open.signIn('slc_right');
      open.draft.text.value = 'half a thought';
      await act();
      expect(open.draft.text.value !== 'half a thought').toBe(isDiscarded);
    });

    it('shows its latest state in any order of events', async () => {
      await open.signIn('slc_right');
      const { addSent, advanceSent, sent } = open.draft;
      addSent(message('queued', 0));
      for (const [status, second] of [
        ['processing', 1],
        ['delivered', 3],
        ['queued', 2],
        ['delivered', 3],
      ] as const) {
        expect(advanceSent(message(status, second))).toBe(true);
      }
      expect(sent.value[0]?.steps.map(({ status }) => status)).toEqual(['queued', 'processing', 'delivered']);
      expect(advanceSent({ ...(message('queued', 9) as object), id: 'msg_2' } as never)).toBe(false);
    });
  });
});
