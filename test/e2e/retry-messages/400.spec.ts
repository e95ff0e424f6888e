import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const [EARLY, LATE] = ['2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z'];

describe('POST /messages/retry responds 400 validation_failed', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each([
    [{}, ['/since', '/until']],
    [{ since: EARLY }, ['/until']],
    [{ until: LATE }, ['/since']],
    [{ since: null, until: 17 }, ['/since', '/until']],
    [{ since: '2026-11-21', until: LATE }, ['/since']],
    [{ since: EARLY, until: '2026-11-21T10:00:00' }, ['/until']],
    [{ since: LATE, until: EARLY }, ['/until']],
    [{ since: EARLY, until: EARLY }, ['/until']],
    [{ since: EARLY, until: LATE, type: 'order*' }, ['/type']],
    [{ since: EARLY, until: LATE, type: ['order'] }, ['/type']],
  ])('to %j, with a pointer to each error', async (body, pointers) => {
    const response = await api.ask(account, 'POST /messages/retry', body);
    const { errors } = expectProblem(response, 400, 'validation_failed') as { errors?: { pointer: string }[] };
    expect(errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
