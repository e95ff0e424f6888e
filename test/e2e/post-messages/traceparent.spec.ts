import { accountOf, sharedApi } from '../../support/api.js';
import { TRACEPARENT } from '../../support/messages.js';

describe('POST /messages, sent in a trace', () => {
  const api = sharedApi();
  const account = accountOf(api);

  /** What is kept with a message, and what its job carries. */
  async function carried(traceparent: string | readonly string[] | undefined) {
    const { id } = await api.sent(account, { headers: { traceparent } });
    await api.relayed(id);
    const [row] = await api.sql<{ kept: string | null; metadata: string | null }>(
      `SELECT m.traceparent AS kept, j.opts->'telemetry'->>'metadata' AS metadata
       FROM sluice.messages m JOIN bullmq.job j USING (id) WHERE id = $1`,
      [id],
    );
    return row;
  }

  it('stores the trace with the message, and adds it to the job', async () => {
    expect(await carried(TRACEPARENT)).toEqual({ kept: TRACEPARENT, metadata: `{"traceparent":"${TRACEPARENT}"}` });
  });

  it.each([
    ['is missing', undefined],
    ['is not valid', TRACEPARENT.toUpperCase()],
    ['is there twice', [TRACEPARENT, TRACEPARENT]],
  ])('keeps none when the header %s, and accepts the message all the same', async (_how, traceparent) => {
    expect(await carried(traceparent)).toEqual({ kept: null, metadata: null });
  });

  it('still carries it when the message is sent on its way again', async () => {
    const { id } = await api.sent(account, { headers: { traceparent: TRACEPARENT } });
    await api.relayed(id);
    await api.become(id, 'failed');
    await api.ask(account, `POST /messages/${id}/retry`);
    await api.relayed(id, `${id}.1`);
    const [job] = await api.sql(`SELECT opts->'telemetry'->>'metadata' AS metadata FROM bullmq.job WHERE id = $1`, [
      `${id}.1`,
    ]);
    expect(job).toEqual({ metadata: `{"traceparent":"${TRACEPARENT}"}` });
  });
});
