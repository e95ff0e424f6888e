import { FairTurns } from './fair-turns.js';

describe('FairTurns', () => {
  let turns: FairTurns;
  beforeEach(() => {
    turns = new FairTurns();
  });

  const add = (accountId: string, count: number) => {
    const given = turns.of(Array<string>(count).fill(accountId));
    given.added();
    return given.turns;
  };

  it('has whoever sends little in the turn that is served', () => {
    expect(new Set(add('a', 50))).toEqual(new Set([0]));
    turns.see(7);
    expect(add('b', 2)).toEqual([7, 7]);
  });

  it('spreads a backlog over turns, a share in each, and lets others in before it', () => {
    const backlog = add('a', 10_000);
    expect([backlog[0], backlog[50], backlog[9_999]]).toEqual([0, 1, 199]);
    expect(add('b', 1)).toEqual([0]);
    turns.see(40);
    expect(add('b', 1)).toEqual([40]);
    expect(add('a', 1)).toEqual([200]);
  });

  it('lets two backlogs take turns', () => {
    const [one, other] = [add('a', 500), add('b', 500)];
    expect(other).toEqual(one);
  });

  it('lets nobody in before others for ever: who goes on goes back', () => {
    add('a', 1_000);
    const other = Array.from({ length: 200 }, () => add('b', 1)).flat();
    expect(other.filter((turn) => turn === 0)).toHaveLength(50);
    expect(other.at(-1)).toBe(3);
  });

  it('begins anew when nothing waits', () => {
    add('a', 10_000);
    turns.see(null);
    expect(add('a', 1)).toEqual([0]);
  });

  it('counts all of what is added side by side', () => {
    const given = [0, 1, 2].map(() => turns.of(Array<string>(50).fill('a')));
    for (const { added } of given) added();
    expect(add('a', 1)).toEqual([3]);
  });

  it('takes no note of what was not added', () => {
    turns.of(Array<string>(1_000).fill('a'));
    expect(add('a', 1)).toEqual([0]);
  });

  it('forgets accounts whose turns have passed', () => {
    for (let account = 0; account < 1_000; account++) add(`account ${account}`, 1);
    turns.see(1);
    expect((turns as unknown as { had: Map<string, number> }).had.size).toBe(0);
  });
});
