import { AllowedHosts } from './allowed-hosts.js';

describe('AllowedHosts', () => {
  const hosts = new AllowedHosts(['Sluice.internal', 'api', '*.svc.cluster.local']);

  it.each([
    ...[undefined, '', '127.0.0.1', '127.0.0.1:9464', '10.1.2.3:', '[::1]', '[::1]:9464'],
    ...['localhost', 'LOCALHOST:9464', 'localhost.', 'sluice.internal', 'SLUICE.INTERNAL.:9464', 'api:9464'],
    ...['sluice-0.sluice.svc.cluster.local:9464', 'a.svc.cluster.local'],
  ])('include %j', (host) => {
    expect(hosts.includes(host)).toBe(true);
  });

  it.each([
    ...['evil.example', 'evil.example:9464', '127.0.0.1.evil.example', 'localhost.evil.example', 'evil-localhost'],
    ...[
      'a.sluice.internal',
      'xapi',
      'api.evil.example',
      'svc.cluster.local',
      '.svc.cluster.local',
      'xsvc.cluster.local',
    ],
    ...['127.0.0.1, evil.example', '127.0.0.1 ', '127.0.0.1:x', '::1', '[::1', '[evil.example]', '[127.0.0.1]', '[]'],
    ...[
      '2130706433',
      '0x7f000001',
      '127.1',
      '127.000.000.001',
      'user@localhost',
      '*.svc.cluster.local.evil.example',
      ':',
    ],
  ])('do not include %j', (host) => {
    expect(hosts.includes(host)).toBe(false);
  });
});
