import { TestApi } from '../../support/api.js';
import { until } from '../../support/processes.js';

/** Of nothing but the recovery of the queue: the reconciler runs once a day. */
const SETTINGS = { RECONCILE_INTERVAL_MS: '86400000' };

it('An API that starts with another queue than before puts open messages on their way again', async () => {
  const api = await new TestApi().open();
  try {
    await api.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       VALUES ('msg_01m7yq1whveg88v7hszczys7mx', 'acct_1', 'hello', 'queued', now(), now())`,
    );
    await api.sql(`INSERT INTO sluice.installation (name, value) VALUES ('queue_contents', 'a queue that is gone')`);
    await api.join(SETTINGS);
    await until(() => api.isQueued('msg_01m7yq1whveg88v7hszczys7mx'));
    const walked = `SELECT FROM sluice.installation WHERE name = 'queue_contents' AND value = 'a queue that is gone'`;
    await until(async () => (await api.sql(walked)).length === 0);
  } finally {
    await api.stop();
  }
});
