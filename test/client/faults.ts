import { Sluice } from '#client/index.js';
import { accountOf, sharedApi } from '../support/api.js';
import { FaultyProxy } from '../support/faulty-proxy.js';

/** A test: this many sends through a proxy that damages a third of the requests become as many messages. */
export function itSendsThroughFaults(count: number): void {
  const api = sharedApi();
  const account = accountOf(api);
  let proxy: FaultyProxy;
  beforeAll(async () => {
    // Of 250 requests.
    const faults = { delay: 25, cut: 13, lose: 13, truncate: 8, duplicate: 13, unavailable: 13, page: 8 };
    proxy = await FaultyProxy.start(api.url, { ...faults, hang: 1, refuse: 1 });
  });
  afterAll(() => {
    proxy.stop();
  });

  it(`makes ${count} messages of ${count} sends through faults`, async () => {
    const sluice = new Sluice({ apiKey: account.key, baseUrl: proxy.url, timeoutMs: 5_000, maxTries: 20 });
    const texts = Array.from({ length: count }, (_, n) => `message ${n}`);
    const ids: string[] = [];
    const left = texts.entries();
    const sender = async () => {
      for (const [n, text] of left) ids[n] = (await sluice.messages.send(text)).id;
    };
    await Promise.all(Array.from({ length: 50 }, sender));

    const rows = await api.sql<{ id: string; message: string }>(
      `SELECT id, text AS message FROM sluice.messages WHERE account_id = $1`,
      [account.id],
    );
    expect(rows).toHaveLength(count);
    expect(new Map(rows.map(({ id, message }) => [message, id]))).toEqual(
      new Map(texts.map((text, n) => [text, ids[n]])),
    );
    expect([...proxy.faults.values()].filter((times) => times > 0)).toHaveLength(9);
  }, 540_000);
}
