import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SpanAttributes, SpanStart, Tracing } from '../../observability/tracing/tracing.js';
import { traceRequest } from './traceparent.js';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OWN = '00-4bf92f3577b34da6a3ce929d0e0e4736-53995c3f42cd8ad8-01';

interface Answered {
  readonly method?: string;
  readonly route?: string;
  readonly headers?: Record<string, string>;
  /** Null when the connection was lost before. */
  readonly status: number | null;
  readonly accountId?: string;
}

/** The span of a request with a secret in its path and query. */
function spanOf({ method = 'GET', route = '/messages/:id', headers = {}, status, accountId }: Answered) {
  let started: SpanStart | undefined;
  let ended: [SpanAttributes, string | undefined] | undefined;
  const span = {
    traceparent: OWN,
    run: <T>(work: () => T) => work(),
    end: (...args: [SpanAttributes, string?]) => {
      ended = [args[0], args[1]];
    },
  };
  const tracing: Tracing = { start: (start) => ((started = start), span), close: () => Promise.resolve() };
  const request = {
    ...{ method, headers, url: '/messages/secret?token=secret', routeOptions: { url: route } },
    ...{ raw: { httpVersion: '1.1' }, ...(accountId !== undefined && { caller: { accountId } }) },
  } as unknown as FastifyRequest;
  const raw = Object.assign(new EventEmitter(), { statusCode: status ?? 200, headersSent: status !== null });
  traceRequest(tracing, request, { raw } as unknown as FastifyReply);
  raw.emit('close');
  const [attributes = {}, error] = ended ?? [];
  return { started, attributes, error, traceparent: request.traceparent };
}

describe('The span of a request', () => {
  it.each([
    [{}, null],
    [{ traceparent: PARENT }, PARENT],
    [{ traceparent: 'x' }, null],
  ])('continues the trace of %j', (headers, parent) => {
    const { started, traceparent } = spanOf({ headers, status: 200 });
    expect([started?.parent, traceparent]).toEqual([parent, OWN]);
  });

  it.each([
    ['GET', '/messages/:id', 'GET /messages/:id', 'GET'],
    ['BREW', '/messages/:id', 'HTTP /messages/:id', '_OTHER'],
    ['GET', '/*', 'GET', 'GET'],
  ])('is named by what is known: %s %s', (method, route, name, known) => {
    const { started } = spanOf({ method, route, status: 200 });
    expect([started?.name, started?.attributes['http.request.method']]).toEqual([name, known]);
  });

  it.each<[Answered, string | undefined, string | undefined]>([
    [{ status: 200 }, '/messages/secret', undefined],
    [{ status: 404 }, undefined, undefined],
    [{ status: 503 }, undefined, '503'],
    [{ status: 200, route: '/*' }, undefined, undefined],
    [{ status: null }, undefined, undefined],
  ])('has the path of a success only, never the query, and the kind of a fault: %j', (answered, path, kind) => {
    const { started, attributes, error } = spanOf({ ...answered, accountId: 'acct_1' });
    expect([attributes['url.path'], error, attributes['sluice.account.id']]).toEqual([path, kind, 'acct_1']);
    expect(attributes['http.response.status_code']).toBe(answered.status ?? undefined);
    expect(JSON.stringify([started, attributes])).not.toContain('token');
  });
});
