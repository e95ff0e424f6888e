import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const run = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** Why tests with TLS are skipped; null when they can run. */
export const NO_OPENSSL = (() => {
  try {
    run('version');
    return null;
  } catch {
    return 'there is no openssl';
  }
})();

/** A certification authority, with certificates for servers. All are files. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice-certificates-'));
  readonly certificate = join(this.folder, 'ca.pem');
  private readonly key = join(this.folder, 'ca.key');
  private count = 0;

  constructor() {
    chmodSync(this.folder, 0o755);
    const subject = ['-subj', `/CN=Tests ${basename(this.folder)}`, '-days', '2'];
    run('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...subject,
      ...['-keyout', this.key, '-out', this.certificate]); // prettier-ignore
  }

  /**
   * @param names such as `DNS:localhost`
   * @param owner a path whose owner may read the key
   */
  issue(names: string, { expired = false, owner = this.folder } = {}): { cert: string; key: string } {
    const path = join(this.folder, String((this.count += 1)));
    const [cert, key, request, extensions] = ['cert', 'key', 'csr', 'ext'].map((end) => `${path}.${end}`) as [
      ...[string, string, string, string],
    ];
    run('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=server',
      ...['-keyout', key, '-out', request]); // prettier-ignore
    writeFileSync(extensions, `subjectAltName=${names}`);
    // openssl x509 has no way to begin in the past; a negative number of days ends in it.
    run('x509', '-req', '-in', request, '-CA', this.certificate, '-CAkey', this.key, '-CAcreateserial',
      ...['-days', expired ? '-1' : '2', '-extfile', extensions, '-out', cert]); // prettier-ignore
    const { uid, gid } = statSync(owner);
    chownSync(key, uid, gid);
    chmodSync(key, 0o600);
    return { cert, key };
  }
}
