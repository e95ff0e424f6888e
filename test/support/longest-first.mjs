import TestSequencer from '@jest/test-sequencer';

/** Below `test/`, the longest first. */
const LONGEST = [
  /architecture.style\./,
  /docs.pages\./,
  /contracts.messages\./,
  /(faults|neighbours|examples)./,
  /npm-start\./,
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
