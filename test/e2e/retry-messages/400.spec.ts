import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';

const [EARLY, LATE] = ['2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z'];

describe('POST /messages/retry answers 400 validation_failed', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());

  it.each([
    [{}, ['/since', '/until']],
    [{ since: EARLY }, ['/until']],
    [{ until: LATE }, ['/since']],
    [{ since: null, until: 17 }, ['/since', '/until']],
    [{ since: '2026-11-21', until: LATE }, ['/since']],
    [{ since: EARLY, until: '2026-11-21T10:00:00' }, ['/until']],
    [{ since: LATE, until: EARLY }, ['/until']],
    [{ since: EARLY, until: EARLY }, ['/until']],
  ])('to %j, pointing at what is wrong', async (body, pointers) => {
    const answer = await api.as(account, {
      method: 'POST',
      path: '/messages/retry',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { errors } = expectProblem(answer, 400, 'validation_failed') as { errors?: { pointer: string }[] };
    expect(errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
