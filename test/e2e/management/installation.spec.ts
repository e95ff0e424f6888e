import { ownApi } from '../../support/api.js';
import { Program } from '../../support/processes.js';

const [OLD, NEW] = ['the pepper before the rotation of peppers', 'the pepper after the rotation of peppers'];

describe('A process on a database', () => {
  const api = ownApi({ API_KEY_PEPPER: OLD });

  it('does not start as a worker with another queue, and prints one sentence', async () => {
    const program = Program.run('dist/apps/worker/main.js', { ...api.environment, QUEUE_NAME: 'other' });
    expect(await program.ended()).toBe(1);
    expect(program.output).toMatch(/^worker: QUEUE_NAME must be "messages", [^\n]*; it is "other"\.\n$/);
  });

  it('does not start as an API with another queue', async () => {
    await expect(api.join({ QUEUE_NAME: 'other' })).rejects.toThrow('QUEUE_NAME must be "messages"');
  });

  it('accepts keys of both peppers while the pepper is rotated, and then only those of the new one', async () => {
    const account = await api.signUp();
    // First all processes accept the new pepper, then they use it, then they forget the old one.
    const prepared = await api.join({ API_KEY_PEPPER: OLD, API_KEY_PEPPER_PREVIOUS: NEW });
    const rotated = await api.join({ API_KEY_PEPPER: NEW, API_KEY_PEPPER_PREVIOUS: OLD });
    const { key } = await rotated.createKey(account.key);
    for (const process of [prepared, rotated]) {
      for (const one of [account.key, key]) expect((await process.ask(one)).status).toBe(200);
    }
    const finished = await api.join({ API_KEY_PEPPER: NEW, API_KEY_PEPPER_PREVIOUS: '' });
    expect([await finished.knows(account.key), await finished.knows(key)]).toEqual([false, true]);
    await expect(api.join({ API_KEY_PEPPER: OLD })).rejects.toThrow('API_KEY_PEPPER does not match this database');
  });
});
