import { LimitedApis, REFUSED, kindOf, type Answer } from '../../support/limits.js';

/** What an answer says, but for what is of its moment. */
const words = ({ status, headers, body }: Answer) => {
  const ofTheMoment = /^(date|x-request-id|keep-alive|connection|content-length)$/;
  const told = [...headers].filter(([name]) => !ofTheMoment.test(name)).map(([name, value]) => [name, times(value)]);
  return {
    status,
    headers: Object.fromEntries(told) as object,
    body: { ...body, requestId: '', detail: times(String(body.detail)) },
  };
};
const times = (text: string) => text.replace(/\d+/g, '0');

describe('what is refused at the gate is answered as it would be behind it', () => {
  let limited: LimitedApis;

  beforeAll(async () => {
    limited = await LimitedApis.start();
  });
  afterAll(() => limited.stop());

  it('to a key whose plan is used up: the first refusal comes from the store, the next from memory', async () => {
    const holder = await limited.signUp({ perMinute: 1, perDay: 10 });
    await limited.ask(holder);
    const [behind, ...atTheGate] = await limited.series(holder, 3);

    expect(behind && kindOf(behind)).toBe(REFUSED);
    for (const answer of atTheGate) expect(behind && words(answer)).toEqual(behind && words(behind));
  });

  it.each([
    ['no key', null],
    ['a key that nobody issued', { key: `slc_${'0'.repeat(40)}` }],
    ['what is no key', { key: 'wrong' }],
  ])('to %s: a path of a kind is known behind the gate only', async (_name, key) => {
    const behind = await limited.ask(key, { path: '/messages/msg_01h455vb4pex5vsknk084sn02q' });
    const atTheGate = await limited.ask(key, { path: '/messages' });

    expect(kindOf(behind)).toBe('401 unauthorized');
    expect(words(atTheGate)).toEqual(words(behind));
  });

  it('and what could be read in two ways is refused for that first', async () => {
    const holder = await limited.signUp({ perMinute: 1, perDay: 10 });
    await limited.series(holder, 3);

    expect(kindOf(await limited.ask(holder, { path: '/messages/%ff%' }))).toBe('400 malformed_request');
    expect(kindOf(await limited.ask(holder, { path: '/messages/%41' }))).toBe(REFUSED);
  });
});
