import { Resolver } from 'node:dns/promises';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNameServer, type NameAnswer } from '../../../../test/support/name-server.js';
import { resolveByDns } from './addresses.js';

describe('resolveByDns', () => {
  let folder: string;
  let file: string;
  let servers: { address: string; stop: () => void }[];
  /** The name server that the machine has at the moment. */
  let present: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-names-'));
    file = join(folder, 'resolv.conf');
    await writeFile(file, 'nameserver 127.0.0.1\n');
    servers = [];
  });
  afterEach(async () => {
    for (const { stop } of servers) stop();
    await rm(folder, { recursive: true });
  });

  const nameServer = async (answer: NameAnswer) => {
    const server = await startNameServer(answer);
    servers.push(server);
    return server.address;
  };
  let made = 0;
  const create = () => {
    made++;
    const resolver = new Resolver({ timeout: 2_000, tries: 1 });
    resolver.setServers([present]);
    return resolver;
  };

  it('asks the name servers that the machine has got since', async () => {
    present = await nameServer(['192.0.2.1']);
    const resolve = resolveByDns(file, create);
    expect(await resolve('receiver.test')).toEqual(['192.0.2.1']);
    present = await nameServer(['192.0.2.2']);
    await writeFile(`${file}.new`, 'nameserver 127.0.0.2\n');
    await rename(`${file}.new`, file);
    expect(await resolve('receiver.test')).toEqual(['192.0.2.2']);
  });

  it.each<[string, NameAnswer]>([
    ['silent', null],
    ['refusing', 'REFUSED'],
    ['failing', 'SERVFAIL'],
  ])('asks others after one that is %s, although the file has not changed', async (_what, answer) => {
    present = await nameServer(answer);
    const resolve = resolveByDns(file, create);
    await expect(resolve('receiver.test')).rejects.toThrow();
    present = await nameServer(['192.0.2.2']);
    expect(await resolve('receiver.test')).toEqual(['192.0.2.2']);
  });

  it('keeps its name servers while the file stays as it is, also when a name does not exist', async () => {
    present = await nameServer('NXDOMAIN');
    made = 0;
    const resolve = resolveByDns(file, create);
    for (let count = 0; count < 3; count++) {
      await expect(resolve('receiver.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    }
    expect(made).toBe(1);
  });

  it('works without the file', async () => {
    present = await nameServer(['192.0.2.1']);
    expect(await resolveByDns(join(folder, 'none'), create)('receiver.test')).toEqual(['192.0.2.1']);
  });
});
