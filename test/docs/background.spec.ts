import { BACKGROUND } from '../../apps/background.js';
import { readPage } from './page.js';

it('docs/development.md lists the background tasks', () => {
  const { text } = readPage('docs/development.md');
  const [, section = ''] = /\n## What runs in the background\n([^]*?)\n## /.exec(text) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  expect(cells.map(([, name, does, every, processes, stops]) => ({ name, does, every, processes, stops }))).toEqual(
    BACKGROUND.map((entry) => {
      const { name, does, every, stops } = entry;
      return { name, does, every, processes: entry.in.join(', '), stops };
    }),
  );
});
