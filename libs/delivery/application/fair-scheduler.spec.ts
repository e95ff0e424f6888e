import { FairScheduler, FIRST_TURN } from './fair-scheduler.js';
import { HeldPlaces } from './held-places.js';

describe('FairScheduler', () => {
  let held: HeldPlaces;
  let scheduler: FairScheduler;
  let now: number;
  beforeEach(() => {
    held = new HeldPlaces();
    now = 0;
    scheduler = new FairScheduler(held, () => now);
  });

  const add = (accountId: string, count: number) => {
    const given = scheduler.assign(Array<string>(count).fill(accountId));
    given.added();
    return given.turns;
  };
  const isExpress = (turn: number | undefined) => turn !== undefined && turn < FIRST_TURN;

  it('lets an account with few messages pass, its first ones before its next', () => {
    expect(add('a', 15)).toEqual([0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
    scheduler.setWaiting({ express: true, turn: FIRST_TURN + 7 });
    expect(add('b', 2)).toEqual([0, 1]);
    expect(add('b', 2)).toEqual([1, 2]);
  });

  it('counts them again when none waits any more, or after a second', () => {
    scheduler.setWaiting({ express: false, turn: null });
    add('a', 15);
    now = 999;
    scheduler.setWaiting({ express: true, turn: null });
    expect(add('a', 1)).toEqual([4]);
    scheduler.setWaiting({ express: false, turn: null });
    expect(add('a', 1)).toEqual([0]);
    // Also while nobody has looked at the queue.
    now = 1_999;
    expect(add('a', 1)).toEqual([0]);
  });

  it('spreads a backlog over turns, a share in each, and lets others pass it', () => {
    const backlog = add('a', 10_000);
    expect([backlog[0], backlog[49], backlog[50], backlog.at(-1)]).toEqual([6, 6, 7, 205]);
    expect(add('b', 1)).toEqual([0]);
    scheduler.setWaiting({ express: false, turn: FIRST_TURN + 40 });
    expect(add('b', 1)).toEqual([0]);
    expect(add('a', 1)).toEqual([FIRST_TURN + 200]);
  });

  it('lets two backlogs take turns', () => {
    const [one, other] = [add('a', 500), add('b', 500)];
    expect(other).toEqual(one);
  });

  it('lets an account pass others only for its share', () => {
    add('a', 1_000);
    const other = Array.from({ length: 200 }, () => add('b', 1)).flat();
    expect(other.filter(isExpress)).toHaveLength(50);
    expect(other.at(-1)).toBe(FIRST_TURN + 2);
  });

  it('gives the express turn to no account that holds more than its share of the places', () => {
    for (const at of [-250, 0]) held.observe(new Map([['slow', 50]]), at);
    expect(add('slow', 2)).toEqual([FIRST_TURN, FIRST_TURN]);
    scheduler.setWaiting({ express: false, turn: FIRST_TURN + 3 });
    expect(add('slow', 60).slice(49)).toEqual([9, ...Array<number>(10).fill(10)]);
    expect(add('quick', 1)).toEqual([0]);
  });

  it('lets an account with a backlog pass those that hold the places, and otherwise not itself', () => {
    add('quick', 200);
    scheduler.setWaiting({ express: false, turn: FIRST_TURN });
    expect(isExpress(add('quick', 1)[0])).toBe(false);
    for (const at of [-250, 0]) held.observe(new Map([['slow', 50]]), at);
    expect(isExpress(add('quick', 1)[0])).toBe(true);
  });

  it('lets one that sends a lot pass those that hold the places, but not at once', () => {
    for (const at of [-250, 0]) held.observe(new Map([['slow', 50]]), at);
    const sent = Array.from({ length: 11 }, () => add('quick', 50));
    expect(sent.map((turns) => turns.every(isExpress))).toEqual([...Array<boolean>(10).fill(true), false]);
    expect(add('other', 51).some(isExpress)).toBe(false);
  });

  it('starts over when the queue is empty', () => {
    add('a', 10_000);
    scheduler.setWaiting({ express: false, turn: null });
    expect(add('a', 1)).toEqual([0]);
  });

  it('counts messages that are added concurrently', () => {
    const given = [0, 1, 2].map(() => scheduler.assign(Array<string>(50).fill('a')));
    for (const { added } of given) added();
    expect(add('a', 1)).toEqual([FIRST_TURN]);
    const more = [0, 1, 2].map(() => scheduler.assign(Array<string>(50).fill('a')));
    for (const { added } of more) added();
    expect(add('a', 1)).toEqual([FIRST_TURN + 3]);
  });

  it('does not count what was not added', () => {
    scheduler.assign(Array<string>(1_000).fill('a'));
    expect(add('a', 1)).toEqual([0]);
  });

  it('keeps no account whose turns have passed', () => {
    for (let account = 0; account < 1_000; account++) {
      add(`account ${account}`, 1);
      add(`account ${account}`, 50);
    }
    scheduler.setWaiting({ express: false, turn: FIRST_TURN + 1 });
    const { scheduled, passed } = scheduler as unknown as Record<string, Map<string, number>>;
    expect([scheduled?.size, passed?.size]).toEqual([0, 0]);
  });
});
