import { expectProblem, sharedApi } from '../../support/api.js';

describe('POST /accounts', () => {
  const api = sharedApi();

  it('responds 413 body_too_large to a body of more than 16 KiB', async () => {
    const body = (bytes: number) => '{"name":"large"}'.padEnd(bytes);
    const response = await api.ask(null, 'POST /accounts', body(16_385));
    expect(expectProblem(response, 413, 'body_too_large').detail).toContain('16384 bytes');
    expect((await api.ask(null, 'POST /accounts', body(16_384))).status).toBe(201);
  });
});
