import { expectProblem, OPERATOR, ownApi } from '../../support/api.js';

describe('SIGNUP_PLAN', () => {
  const api = ownApi();

  it('is the plan of new accounts, and can be changed but not deleted', async () => {
    await api.ask(OPERATOR, 'PUT /admin/plans/trial', { limits: { perMinute: 3, perDay: 30 } });
    const other = await api.join({ SIGNUP_PLAN: 'trial' });
    const { body } = await other.ask(null, 'POST /accounts', { name: 'Acme' });
    expect(body).toMatchObject({ plan: 'trial' });
    const { key } = body.apiKey as { key: string };
    const own = await other.ask(key);
    expect(own.headers['x-ratelimit-limit']).toBe('3');
    expect(own.body).toMatchObject({ plan: 'trial', limits: { perMinute: 3, perDay: 30 } });
    await api.sql('DELETE FROM sluice.api_keys; DELETE FROM sluice.accounts');
    expectProblem(await other.ask(OPERATOR, 'DELETE /admin/plans/trial'), 409, 'plan_in_use');
    await other.ask(OPERATOR, 'PUT /admin/plans/trial', { limits: null });
    expect((await other.ask(null, 'POST /accounts', { name: 'Acme' })).body).toMatchObject({ plan: 'trial' });
    await api.sql('DELETE FROM sluice.api_keys; DELETE FROM sluice.accounts');
    // A process with another setting can delete it.
    expect((await api.ask(OPERATOR, 'DELETE /admin/plans/trial')).status).toBe(204);
    expectProblem(await other.ask(null, 'POST /accounts', { name: 'Acme' }), 503, 'unavailable');
    expect(await api.sql('SELECT id FROM sluice.accounts')).toEqual([]);
  });

  it('must exist when a process starts', async () => {
    await expect(api.join({ SIGNUP_PLAN: 'nothing' })).rejects.toThrow(
      /SIGNUP_PLAN must be the name of a plan that exists/,
    );
  });

  it('gives every account its plan, or none, while it is deleted', async () => {
    await api.ask(OPERATOR, 'PUT /admin/plans/trial', { limits: { perMinute: 3, perDay: 30 } });
    const other = await api.join({ SIGNUP_PLAN: 'trial', SIGNUPS_PER_HOUR: '1000' });
    for (let round = 0; round < 10; round++) {
      await api.ask(OPERATOR, 'PUT /admin/plans/trial', { limits: { perMinute: 3, perDay: 30 } });
      const [removed, ...created] = await Promise.all([
        api.ask(OPERATOR, 'DELETE /admin/plans/trial'),
        ...Array.from({ length: 4 }, () => other.ask(null, 'POST /accounts', { name: 'Acme' })),
      ]);
      const stored = created.filter(({ status }) => status === 201).length;
      for (const response of created) if (response.status !== 201) expectProblem(response, 503, 'unavailable');
      expect(await api.sql('SELECT count(*)::int AS count FROM sluice.accounts')).toEqual([{ count: stored }]);
      expect(removed.status).toBe(stored === 0 ? 204 : 409);
      await api.sql('DELETE FROM sluice.api_keys; DELETE FROM sluice.accounts');
    }
  });
});
