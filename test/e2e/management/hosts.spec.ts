import { joinedApi, OPERATOR, sharedApi } from '../../support/api.js';
import { callUndocumented } from '../../support/http.js';

const PATHS = ['/health/live', '/health/ready', '/metrics', '/', '/queues', '/admin/accounts', '/unknown'];

describe('The management port', () => {
  const api = sharedApi();
  const named = joinedApi(api, { MANAGEMENT_ALLOWED_HOSTS: 'api,*.svc.cluster.local' });

  const statusesFor = async (host: string, of = api) => {
    const headers = { host, authorization: `Bearer ${OPERATOR.key}`, accept: 'text/html' };
    const responses = PATHS.map((path) => callUndocumented(of.managementUrl, { path, headers }));
    return (await Promise.all(responses)).map(({ status }) => status);
  };

  it.each(['evil.example', 'evil.example:9464', '127.0.0.1.evil.example', 'localhost.evil.example', 'api', '127.1'])(
    'responds 421 to every request by the name %s',
    async (host) => {
      expect(new Set(await statusesFor(host))).toEqual(new Set([421]));
    },
  );

  it.each(['http://evil.example', 'HTTP://evil.example:80', 'http://user@localhost', 'https://localhost.evil.example'])(
    'responds 421 to a request whose target begins with %s, whatever its Host says',
    async (origin) => {
      const headers = { host: 'localhost' };
      const responses = PATHS.map((path) => callUndocumented(api.managementUrl, { path: `${origin}${path}`, headers }));
      expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([421]));
    },
  );

  it.each(['127.0.0.1', '10.2.3.4:9464', '[::1]', 'localhost:9464'])('may be called by %s', async (host) => {
    expect(await statusesFor(host)).not.toContain(421);
  });

  it.each(['api:9464', 'API', 'sluice-0.sluice.svc.cluster.local'])(
    'may be called by %s, which the settings list',
    async (host) => {
      expect(await statusesFor(host, named)).not.toContain(421);
      expect((await statusesFor('evil.example', named)).every((status) => status === 421)).toBe(true);
    },
  );
});
