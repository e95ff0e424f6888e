import { createServer, type AddressInfo } from 'node:net';
import { createTestDatabase } from '../../support/database.js';
import { listen, Program } from '../../support/processes.js';

describe('An API whose port is in use', () => {
  it.each(['PORT', 'MANAGEMENT_PORT'])('ends with one sentence that names %s', async (setting) => {
    const database = await createTestDatabase();
    const taken = createServer();
    await listen(taken);
    const { port } = taken.address() as AddressInfo;
    const env = { DATABASE_URL: database.url, API_KEY_PEPPER: 'p'.repeat(32), PORT: '0' };
    const api = Program.run('dist/apps/api/main.js', { ...env, [setting]: String(port), LOG_LEVEL: 'info' });
    try {
      expect(await api.ended()).toBe(1);
      const sentence = `Port ${port} is in use: stop what uses it or set ${setting} to another one.`;
      expect(api.output.split('\n').filter((line) => line !== '' && !line.includes('"level":30'))).toEqual([
        `api: ${sentence}`,
      ]);
    } finally {
      api.signal('SIGKILL');
      taken.close();
      await database.drop();
    }
  });
});
