import { join } from 'node:path';
import { ROOT } from '../support/processes.js';
import { describeClient } from './kept.js';

describeClient({
  language: 'Python',
  needs: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'],
  command: () => ['python3', ['-W', 'error', join(__dirname, 'programs/kept.py')]],
  env: { PYTHONPATH: join(ROOT, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' },
  isConcurrent: false,
  hasBytes: false,
  canForget: true,
});
