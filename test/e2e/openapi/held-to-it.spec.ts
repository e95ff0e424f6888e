import { sharedApi } from '../../support/api.js';
import { expectDocumented, type Answered } from '../../support/documented.js';

describe('An answer that the document does not tell of', () => {
  const asked = { method: 'POST', target: '/messages' };
  const api = sharedApi();
  let answer: Answered;
  beforeAll(async () => {
    answer = await api.send(await api.signUp());
  });

  const body = (change: object) =>
    Buffer.from(JSON.stringify({ ...(JSON.parse(answer.bytes.toString()) as object), ...change }));
  const headers = (change: object) => ({ ...answer.headers, ...change });
  const without = (name: string) =>
    Object.fromEntries(Object.entries(answer.headers).filter(([other]) => other !== name));

  it('is found among all that tests get', () => {
    expectDocumented(asked, answer);

    const others: Record<string, Partial<Answered>> = {
      'no such answer': { status: 201 },
      'X-Request-Id is missing': { headers: without('x-request-id') },
      'header x-new': { headers: headers({ 'x-new': '1' }) },
      'X-RateLimit-Remaining data must be >= 0': { headers: headers({ 'x-ratelimit-remaining': '-1' }) },
      'type text/plain': { headers: headers({ 'content-type': 'text/plain' }) },
      'must NOT have additional properties': { bytes: body({ more: 1 }) },
      'data/status must be equal to constant': { bytes: body({ status: 'new' }) },
      "must have required property 'id'": { bytes: body({ id: undefined }) },
    };
    for (const [fault, change] of Object.entries(others)) {
      expect(() => {
        expectDocumented(asked, { ...answer, ...change });
      }).toThrow(fault);
    }
  });

  it.each([
    ['of another path', { method: 'POST', target: '/message' }],
    ['to another method', { method: 'PUT', target: '/messages' }],
    ['to what was no request', undefined],
  ])('is found by what was asked: %s', (_name, other) => {
    expect(() => {
      expectDocumented(other, answer);
    }).toThrow('no such answer');
  });
});
