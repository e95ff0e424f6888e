import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const [EARLY, LATE] = ['2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z'];

describe('POST /messages/cancel responds 400', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const statuses = () =>
    api.sql<{ status: string }>('SELECT status FROM sluice.messages WHERE account_id = $1', [account.id]);

  beforeAll(async () => {
    await api.sent(account, { body: { message: 'x', type: 'order.paid' } });
  });
  afterEach(async () => {
    expect(await statuses()).toEqual([{ status: 'queued' }]);
  });

  it.each<[object, string[]]>([
    [{ type: '' }, ['/type']],
    [{ type: '*' }, ['/type']],
    [{ type: 'order*' }, ['/type']],
    [{ type: 'order.*.paid' }, ['/type']],
    [{ type: 'a.b.c.d.e*' }, ['/type']],
    [{ type: 'x'.repeat(129) }, ['/type']],
    [{ type: 'order\u0000' }, ['/type']],
    [{ type: 17 }, ['/type']],
    [{ type: ['order.paid'] }, ['/type']],
    [{ since: 'yesterday', until: 17 }, ['/since', '/until']],
    [{ since: '2026-11-21' }, ['/since']],
    [{ until: '2026-11-21T10:00:00' }, ['/until']],
    [{ since: LATE, until: EARLY }, ['/until']],
    [{ since: EARLY, until: EARLY }, ['/until']],
    [{ type: '*', since: '', until: '' }, ['/type', '/since', '/until']],
  ])('to %j, with a pointer to each error', async (body, pointers) => {
    const response = await api.ask(account, 'POST /messages/cancel', body);
    const { errors } = expectProblem(response, 400, 'validation_failed') as { errors?: { pointer: string }[] };
    expect(errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it.each([
    ['', 'invalid_json'],
    ['[]', 'validation_failed'],
    ['null', 'validation_failed'],
    ['"order.*"', 'validation_failed'],
    ['{"type":"order.*"', 'invalid_json'],
  ])('to the body %j', async (body, code) => {
    const response = await api.ask(account, 'POST /messages/cancel', body);
    expect(response).toMatchObject({ status: 400, body: { code } });
  });

  it('to a request without a body', async () => {
    expectProblem(await api.ask(account, 'POST /messages/cancel'), 400, 'invalid_content_type');
  });
});
