import TestSequencer from '@jest/test-sequencer';

const LONGEST = /[/\\]test[/\\](architecture[/\\]style|docs[/\\]pages)\.spec\.ts$/;

/** Starts the longest files first: started last, they would run alone while the other worker idles. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isLong = ({ path }) => LONGEST.test(path);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
