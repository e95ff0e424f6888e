import fc from 'fast-check';
import { HeldPlaces } from './held-places.js';

const places = (held: Record<string, number>) => new Map(Object.entries(held));
const many = (count: number, held: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`slow ${index}`, held]));

/** The same places at two looks, so far apart that nothing before them counts. */
const seenTwice = (held: Record<string, number>) => {
  const seen = new HeldPlaces();
  for (const at of [0, 1_000_000]) seen.observe(places(held), at);
  return seen;
};

it.each([
  ['one that holds all', { slow: 50 }, ['slow']],
  ['one that holds all but a place', { slow: 49, quick: 1 }, ['slow']],
  ['twenty that hold all together', { ...many(20, 2), quick: 0 }, Object.keys(many(20, 2))],
  ['a hundred that hold one each', many(100, 1), Object.keys(many(100, 1))],
  ['two, one of them ten times as slow', { slow: 46, slower: 4 }, ['slow']],
  ['two with half of the places', { one: 25, other: 25 }, ['one', 'other']],
  ['nobody that holds anything', {}, []],
])('%s: who is heavy when it holds them at two looks', (_what, held, heavy) => {
  const seen = seenTwice(held);
  expect(seen.heavyAccounts).toEqual(heavy);
  expect(seen.total).toBe(Object.values(held).reduce((sum, count) => sum + count, 0));
});

it('keeps one heavy that holds nothing for a moment, and forgets it some time after its last place', () => {
  const seen = new HeldPlaces();
  seen.observe(places({ slow: 50 }), -250);
  seen.observe(places({ slow: 50 }), 0);
  seen.observe(places({}), 250);
  expect(seen.isHeavy('slow')).toBe(true);
  for (let at = 500; at <= 60_000; at += 250) seen.observe(places({}), at);
  expect(seen.isHeavy('slow')).toBe(false);
  for (let at = 60_000; at <= 120_000; at += 250) seen.observe(places({}), at);
  expect((seen as unknown as { averages: Map<string, number> }).averages.size).toBe(0);
});

it('does not take one for heavy because it holds a place for a moment beside many', () => {
  const seen = new HeldPlaces();
  seen.observe(places(many(100, 1)), 0);
  seen.observe(places({ ...many(100, 1), quick: 1 }), 250);
  expect(seen.isHeavy('quick')).toBe(false);
});

it.each([
  ['after nothing was held', [{}, { quick: 20 }, {}, {}, { quick: 5 }]],
  ['at the first look', [{ quick: 20 }, {}, { quick: 5 }, {}, {}]],
])('does not take one for heavy whose messages were all held up for a moment: %s', (_when, looks) => {
  const seen = new HeldPlaces();
  for (const [index, held] of looks.entries()) {
    seen.observe(places(held), index * 250);
    expect([seen.isHeavy('quick'), seen.total]).toEqual([false, 0]);
  }
});

it('notices one that takes all places beside one that had them', () => {
  const seen = new HeldPlaces();
  for (let at = 0; at <= 60_000; at += 250) seen.observe(places({ slow: 50 }), at);
  seen.observe(places({ other: 50 }), 60_250);
  seen.observe(places({ other: 50 }), 60_500);
  expect(seen.isHeavy('other')).toBe(true);
});

it('leaves less than half of the places to those who are not heavy', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 60 }), (held) => {
      const seen = seenTwice(Object.fromEntries(held.map((count, index) => [`account ${index}`, count])));
      const light = held.filter((_count, index) => !seen.isHeavy(`account ${index}`));
      expect(light.reduce((sum, count) => sum + count, 0)).toBeLessThan(seen.total / 2);
    }),
  );
});
