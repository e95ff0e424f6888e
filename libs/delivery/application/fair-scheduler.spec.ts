import { FairScheduler } from './fair-scheduler.js';

describe('FairScheduler', () => {
  let scheduler: FairScheduler;
  beforeEach(() => {
    scheduler = new FairScheduler();
  });

  const add = (accountId: string, count: number) => {
    const given = scheduler.assign(Array<string>(count).fill(accountId));
    given.added();
    return given.turns;
  };

  it('starts an account without a backlog in the current turn', () => {
    expect(new Set(add('a', 50))).toEqual(new Set([0]));
    scheduler.setCurrentTurn(7);
    expect(add('b', 2)).toEqual([7, 7]);
  });

  it('spreads a backlog over turns, a share in each, and lets others pass it', () => {
    const backlog = add('a', 10_000);
    expect([backlog[0], backlog[50], backlog[9_999]]).toEqual([0, 1, 199]);
    expect(add('b', 1)).toEqual([0]);
    scheduler.setCurrentTurn(40);
    expect(add('b', 1)).toEqual([40]);
    expect(add('a', 1)).toEqual([200]);
  });

  it('lets two backlogs take turns', () => {
    const [one, other] = [add('a', 500), add('b', 500)];
    expect(other).toEqual(one);
  });

  it('lets an account pass others only for its share', () => {
    add('a', 1_000);
    const other = Array.from({ length: 200 }, () => add('b', 1)).flat();
    expect(other.filter((turn) => turn === 0)).toHaveLength(50);
    expect(other.at(-1)).toBe(3);
  });

  it('starts over when the queue is empty', () => {
    add('a', 10_000);
    scheduler.setCurrentTurn(null);
    expect(add('a', 1)).toEqual([0]);
  });

  it('counts messages that are added concurrently', () => {
    const given = [0, 1, 2].map(() => scheduler.assign(Array<string>(50).fill('a')));
    for (const { added } of given) added();
    expect(add('a', 1)).toEqual([3]);
  });

  it('does not count what was not added', () => {
    scheduler.assign(Array<string>(1_000).fill('a'));
    expect(add('a', 1)).toEqual([0]);
  });

  it('keeps no account whose turns have passed', () => {
    for (let account = 0; account < 1_000; account++) add(`account ${account}`, 1);
    scheduler.setCurrentTurn(1);
    expect((scheduler as unknown as { scheduled: Map<string, number> }).scheduled.size).toBe(0);
  });
});
