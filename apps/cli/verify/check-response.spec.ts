import { createServer } from 'node:http';
import { listen } from '../../../test/support/processes.js';
import { checkResponse } from './check-response.js';
import { Service } from './service.js';

const PROBLEM = { 'content-type': 'application/problem+json', 'x-request-id': 'id' };
const JSON_TYPE = { 'content-type': 'application/json', 'x-request-id': 'id' };
const HTML = { 'content-type': 'text/html' };
const PAGE = '<h1>Bad Gateway</h1>';

describe('checkResponse', () => {
  let response: readonly [status: number, headers: Record<string, string>, body: string];
  const server = createServer((_, outgoing) => {
    const [status, headers, body] = response;
    outgoing.writeHead(status, headers).end(body);
  });
  let service: Service;
  beforeAll(async () => {
    service = new Service([await listen(server)], 'slc_x');
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const check = async () => {
    const received = await service.sendMessage('x', 'key', 0);
    return { ...checkResponse(received, { invalid: false, repeated: false }), isOfProxy: received.isOfProxy };
  };

  it.each([
    [500, HTML, PAGE],
    [502, HTML, PAGE],
    [503, HTML, PAGE],
    [503, { ...HTML, 'retry-after': '1' }, PAGE],
    [504, {}, ''],
    [502, { 'content-type': 'application/json' }, '{"message":"Bad Gateway"}'],
    [503, { 'content-type': 'application/problem+json' }, '{"title":"Service Unavailable"}'],
    [520, HTML, PAGE],
  ] as const)('takes a failure of a proxy for an unknown outcome: %i %j', async (...given) => {
    response = given;
    expect(await check()).toEqual({ outcome: 'unknown', error: null, isOfProxy: true });
  });

  it.each([
    [500, PROBLEM, '{"code":"internal_error"}', 'unknown', 'A response was 500 internal_error.'],
    [500, JSON_TYPE, '{}', 'unknown', 'A response was 500.'],
    [502, { 'x-request-id': 'id' }, '', 'unknown', 'A response was 502 without JSON.'],
    [503, PROBLEM, '{"code":"unavailable"}', 'unknown', 'A response was 503 unavailable without Retry-After.'],
    [503, { ...PROBLEM, 'retry-after': '1' }, '{"code":"unavailable"}', 'unknown', null],
    [200, HTML, PAGE, 'unknown', 'A response was 200 without JSON.'],
    [202, HTML, PAGE, 'unknown', 'A response was 202 without JSON and no id.'],
    [404, HTML, PAGE, 'refused', 'A response was 404 without JSON.'],
    [429, HTML, PAGE, 'limited', 'A response was 429 without JSON without Retry-After.'],
  ] as const)('checks what only Sluice may answer: %i %j', async (status, headers, body, outcome, error) => {
    response = [status, headers, body];
    expect(await check()).toEqual({ outcome, error, isOfProxy: false });
  });
});
