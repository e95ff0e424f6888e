import { expectProblem, ownApi } from '../../support/api.js';
import { exchange, lines } from '../../support/http.js';

describe('POST /accounts with SIGNUP=closed responds 403 signup_closed', () => {
  const api = ownApi({ SIGNUP: 'closed' });
  afterEach(async () => {
    expect(await api.sql('SELECT id FROM sluice.accounts')).toEqual([]);
  });

  it.each(['{"name":"Acme"}', '', '{'])('before it reads the body: %p', async (body) => {
    expectProblem(await api.ask(null, 'POST /accounts', body), 403, 'signup_closed');
  });

  it('instead of 100 Continue to a large body', async () => {
    const head = ['POST /accounts HTTP/1.1', 'Host: sluice', 'Content-Type: application/json'];
    const response = await exchange(api.url, lines(...head, 'Content-Length: 1000000', 'Expect: 100-continue'));
    expectProblem(response, 403, 'signup_closed');
  });
});
