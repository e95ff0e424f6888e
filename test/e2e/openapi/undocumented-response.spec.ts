import { sharedApi } from '../../support/api.js';
import { expectDocumented, type RecordedResponse } from '../../support/documented.js';

describe('A response that the OpenAPI document does not contain', () => {
  const request = { method: 'POST', target: '/messages' };
  const api = sharedApi();
  let recorded: RecordedResponse;
  beforeAll(async () => {
    recorded = await api.send(await api.signUp());
  });

  const body = (change: object) =>
    Buffer.from(JSON.stringify({ ...(JSON.parse(recorded.bytes.toString()) as object), ...change }));
  const headers = (change: object) => ({ ...recorded.headers, ...change });
  const without = (name: string) =>
    Object.fromEntries(Object.entries(recorded.headers).filter(([other]) => other !== name));

  it('fails the test that received it', () => {
    expectDocumented(request, recorded);

    const changes: Record<string, Partial<RecordedResponse>> = {
      'no such response': { status: 201 },
      'X-Request-Id is missing': { headers: without('x-request-id') },
      'no header x-new': { headers: headers({ 'x-new': '1' }) },
      'X-RateLimit-Remaining data must be >= 0': { headers: headers({ 'x-ratelimit-remaining': '-1' }) },
      'no media type text/plain': { headers: headers({ 'content-type': 'text/plain' }) },
      'must NOT have additional properties': { bytes: body({ more: 1 }) },
      'data/status must be equal to constant': { bytes: body({ status: 'new' }) },
      "must have required property 'id'": { bytes: body({ id: undefined }) },
    };
    for (const [error, change] of Object.entries(changes)) {
      expect(() => {
        expectDocumented(request, { ...recorded, ...change });
      }).toThrow(error);
    }
    for (const other of [{ ...request, target: '/message' }, { ...request, method: 'PUT' }, undefined]) {
      expect(() => {
        expectDocumented(other, recorded);
      }).toThrow('no such response');
    }
  });
});
