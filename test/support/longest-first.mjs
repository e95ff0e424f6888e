import TestSequencer from '@jest/test-sequencer';

/** The longest first; below `test/`, without that folder. */
const LONGEST = [
  /docs.(serving-)?pages\./,
  /architecture.style\./,
  /npm-start\./,
  /(faults|neighbours|examples)./,
  /(contracts.messages|pages.docs|fuzz|metrics|slow-readers|503-overload|platform.database.database)\./,
];

/** Starts the longest files first: started last, they would run alone while the other workers idle. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONGEST.findIndex((pattern) => pattern.test(path.split(/[/\\]test[/\\]/).at(-1)));
      return index < 0 ? LONGEST.length : index;
    };
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
}
