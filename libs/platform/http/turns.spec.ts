import { Turns } from './turns.js';

describe('Turns', () => {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const busy = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

  it('does everything, in its order, and not before the turn of the loop in which it came is over', async () => {
    const turns = new Turns();
    const done: number[] = [];
    for (let n = 0; n < 3; n++) turns.add(() => done.push(n));
    expect(done).toEqual([]);
    await nextTurn();
    expect(done).toEqual([0, 1, 2]);
    turns.add(() => done.push(3));
    await nextTurn();
    expect(done).toEqual([0, 1, 2, 3]);
  });

  it('lets other things happen in between, and takes its share of the time', async () => {
    const turns = new Turns();
    const order: string[] = [];
    for (let n = 0; n < 40; n++) {
      turns.add(() => {
        order.push('due');
        busy(1);
      });
    }
    while (order.filter((what) => what === 'due').length < 40) {
      await nextTurn();
      order.push('else');
      busy(4);
    }
    const runs = order
      .join('')
      .split('else')
      .map((run) => run.length / 'due'.length);
    // Half of the 4 ms and of what a turn takes, but for the first, which knows nothing of the time before.
    expect(Math.max(...runs.slice(1))).toBeLessThan(20);
    expect(runs.filter((length) => length > 0).length).toBeGreaterThan(3);
  });

  it('goes on with what came while it worked', async () => {
    const turns = new Turns();
    const done: string[] = [];
    turns.add(() => {
      turns.add(() => done.push('second'));
      done.push('first');
    });
    while (done.length < 2) await nextTurn();
    expect(done).toEqual(['first', 'second']);
  });
});
