import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';
import { describeClient } from './kept.js';

describeClient({
  language: 'Go',
  needs: ['go', 'version'],
  prepare: (folder) => {
    copyFileSync(join(__dirname, 'programs/kept.go'), join(folder, 'main.go'));
    const replaced = `require example.com/sluice v0.0.0\n\nreplace example.com/sluice => ${join(ROOT, 'clients/go')}\n`;
    writeFileSync(join(folder, 'go.mod'), `module check\n\ngo 1.23\n\n${replaced}`);
    const env = { HOME: homedir(), ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
    for (const args of [
      ['vet', '.', 'example.com/sluice'],
      ['build', '-o', 'kept', '.'],
    ]) {
      const { status, stderr, stdout } = spawnSync('go', args, { cwd: folder, env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`go ${args.join(' ')}: ${stdout}${stderr}`);
    }
  },
  command: (folder) => [join(folder, 'kept'), []],
  env: {},
  isConcurrent: true,
  hasBytes: true,
  canForget: false,
});
