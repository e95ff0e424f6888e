import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/batch responds 413 body_too_large and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);
  afterEach(async () => {
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  const padded = (bytes: number) => '{"messages":[{"message":"x"}]}'.padEnd(bytes);

  it('to a body of one byte more than 1,048,576', async () => {
    expectProblem(await api.sendBatch(account, { body: padded(1_048_577) }), 413, 'body_too_large');
  });

  it('to a batch whose messages are too large together', async () => {
    const messages = Array<string>(5).fill('x'.repeat(262_144));
    expectProblem(await api.sendBatch(account, { messages }), 413, 'body_too_large');
  });
});
