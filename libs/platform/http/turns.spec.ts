import { Turns } from './turns.js';

describe('Turns', () => {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const busy = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

  it('does what comes at once, while there is not too much of it', async () => {
    const turns = new Turns();
    const done: number[] = [];
    for (let n = 0; n < 3; n++) turns.do(() => done.push(n));
    expect(done).toEqual([0, 1, 2]);
    await nextTurn();
    turns.do(() => done.push(3));
    expect(done).toEqual([0, 1, 2, 3]);
  });

  it('does the rest in turns, in its order, and takes its share of the time', async () => {
    const turns = new Turns();
    const order: number[] = [];
    const runs: number[] = [];
    for (let n = 0; n < 40; n++) {
      turns.do(() => {
        order.push(n);
        busy(1);
      });
    }
    while (order.length < 40) {
      runs.push(order.length);
      await nextTurn();
      busy(4);
    }
    expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(runs[0]).toBeLessThan(5);
    expect(runs.length).toBeGreaterThan(3);
  });
});
