import { aDelivery } from '../../../../test/support/messages.js';
import { TracedHandler } from './traced-handler.js';

it.each([
  ['TimeoutError', ['timed out', 'timeout']],
  ['AbortError', ['handed over', undefined]],
])('an attempt that was aborted with a %s is a span with this outcome', (name, end) => {
  const ends: unknown[] = [];
  const tracing = {
    start: () => ({
      traceparent: '',
      run: (work: () => unknown) => work(),
      end: (attributes: Record<string, unknown>, error?: string) => ends.push([attributes['sluice.outcome'], error]),
    }),
  };
  const handler = { handle: () => new Promise<void>(() => undefined) };
  const traced = new TracedHandler(handler, tracing as never, 'messages');
  const ending = new AbortController();
  void traced.handle(aDelivery(), ending.signal);
  ending.abort(Object.assign(new Error(), { name }));
  expect(ends).toEqual([end]);
});
