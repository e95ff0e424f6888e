import type { Endpoint } from '../../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';
import { SecretBox } from './secret-box.js';
import { MAX_TESTS, TestEndpoint } from './test-endpoint.js';
import type { Answer, WebhookClient } from '../sending/webhook-client.js';

const AT = new Date('2026-11-21T09:30:00Z');
const REFUSED = { code: 'unavailable', retryAfter: 1 };

describe('TestEndpoint', () => {
  const box = new SecretBox([Buffer.alloc(32)]);
  let answers: ((answer: Answer) => void)[];
  let tests: TestEndpoint;
  let granted: number;
  let rateLimitPerSecond: number;

  beforeEach(() => {
    answers = [];
    granted = 1;
    rateLimitPerSecond = 0;
    const find = (accountId: string, id: string): Promise<Partial<Endpoint>> =>
      Promise.resolve({ id, accountId, url: 'https://example.com/', rateLimitPerSecond });
    const endpoints = {
      find,
      targets: async ([id = '']: string[]) => [
        { endpoint: await find('', id), secrets: [], headers: null, version: '1' },
      ],
      takeRate: (wanted: Map<string, number>) =>
        Promise.resolve(new Map([...wanted.keys()].map((id) => [id, { count: granted, emptyInMs: 0 }]))),
    };
    const client = { post: () => new Promise<Answer>((resolve) => answers.push(resolve)) };
    tests = new TestEndpoint(
      endpoints as unknown as Endpoints,
      box,
      client as unknown as WebhookClient,
      { next: () => 'msg_1' },
      { now: () => AT },
    );
  });

  const answerAll = async (running: readonly Promise<unknown>[]) => {
    for (const answer of answers.splice(0)) answer({ status: 204, body: '', retryAfterMs: null });
    await Promise.all(running);
  };
  const turn = () => new Promise(setImmediate);
  const start = (account: string, count: number) =>
    Array.from({ length: count }, (_, index) => tests.execute(account, `ep_${index}`));

  it('runs a few of an account at the same time, while those of others go on', async () => {
    const running = start('bad', MAX_TESTS);
    await expect(tests.execute('bad', 'ep_1')).rejects.toMatchObject(REFUSED);
    const good = tests.execute('good', 'ep_1');
    await turn();
    await answerAll(running);
    expect(await good).toMatchObject({ status: 204 });
    const again = start('bad', MAX_TESTS);
    await turn();
    await answerAll(again);
  });

  it('runs not too many of all accounts', async () => {
    const running = Array.from({ length: 8 }, (_, index) => start(`account-${index}`, MAX_TESTS)).flat();
    await expect(tests.execute('another', 'ep_1')).rejects.toMatchObject(REFUSED);
    await turn();
    expect(answers).toHaveLength(32);
    await answerAll(running);
    const again = start('another', 1);
    await turn();
    await answerAll(again);
  });

  it('takes from the rate of the endpoint', async () => {
    rateLimitPerSecond = 5;
    granted = 0;
    await expect(tests.execute('account', 'ep_1')).rejects.toMatchObject(REFUSED);
    granted = 1;
    const running = start('account', 1);
    await turn();
    await answerAll(running);
  });
});
