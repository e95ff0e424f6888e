import { Sluice, SluiceError } from '#client/index.js';
import { accountForEach, sharedApi } from '../support/api.js';
import {
  COMPRESSED,
  ENDLESS,
  FINAL,
  FLOODS,
  HARMLESS,
  HostileProxy,
  PASSING,
  type Fault,
} from '../support/hostile-proxy.js';

describe('The client, through a hostile proxy', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  let proxy: HostileProxy;
  beforeAll(async () => {
    proxy = new HostileProxy(api.url);
    await proxy.start();
  });
  afterAll(() => {
    proxy.stop();
  });

  const sendAll = (faults: Readonly<Record<string, Fault>>, timeoutMs?: number) =>
    Promise.all(
      Object.entries(faults).map(async ([text, fault]) => {
        const sluice = new Sluice({ apiKey: account.key, baseUrl: proxy.with(fault), timeoutMs });
        return sluice.messages.send(text).then(
          ({ message }) => message,
          (error: unknown) => (error instanceof SluiceError ? error.code : String(error)),
        );
      }),
    );
  const stored = async () => {
    const rows = await api.sql<{ text: string }>('SELECT text FROM sluice.messages WHERE account_id = $1', [
      account.id,
    ]);
    return rows.map(({ text }) => text).sort();
  };

  it.each([
    ['passes', { ...PASSING, ...HARMLESS }, undefined],
    ['never ends', ENDLESS, 2_000],
  ])('sends each message once, for any fault of the first request that %s', async (_, faults, timeoutMs) => {
    const titles = Object.keys(faults);
    expect(await sendAll(faults, timeoutMs)).toEqual(titles);
    expect(await stored()).toEqual(titles.sort());
  });

  it('ends with an error when no repetition helps, and has sent nothing', async () => {
    expect(await sendAll(FINAL)).toEqual(Object.keys(FINAL).map(() => 'unexpected_response'));
    expect(await stored()).toEqual([]);
  });

  it.each(Object.entries(FLOODS))('reads no more of %s than Sluice would send', async (title, fault) => {
    const sluice = (...faults: Fault[]) =>
      new Sluice({ apiKey: account.key, baseUrl: proxy.with(...faults), maxTries: 2 });
    await sluice(fault).messages.send(title);
    expect(await stored()).toEqual([title]);
    const failed = await sluice(fault, fault)
      .messages.send('other')
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'unexpected_response' });
    if ((failed as SluiceError).status === 202) {
      expect(String(failed)).toContain('is longer than any of Sluice');
      expect(String(failed)).toContain('The outcome is unknown.');
    }
  });

  it('reads a compressed response', async () => {
    expect(await sendAll({ compressed: COMPRESSED })).toEqual(['compressed']);
    expect(await stored()).toEqual(['compressed']);
  });
});
