import { endByOthers, GONE } from './job-ends.js';

describe('The end of a job that another program has failed', () => {
  it.each([
    ['U+0000', 'be\u0000fore', 'before'],
    ['controls', '\u001b[2J\u009b31mred\u202e\u{e0041}\nend', '\ufffd[2J\ufffd31mred\ufffd\ufffd end'],
    ['a lone surrogate', 'x\ud83dx', 'x\ufffdx'],
    ['a very long text', 'y'.repeat(5_000), 'y'.repeat(1_000)],
    ['an empty text', '', 'The worker reported no reason.'],
    ['only white space', ' \n', 'The worker reported no reason.'],
    ['what is no error', 'null', 'The worker reported no reason.'],
    ['what is no error, by another version', 'undefined', 'The worker reported no reason.'],
    ['the word null', 'is null', 'is null'],
    ['nothing', null, 'The worker reported no reason.'],
  ])('has a reason that every store can keep: %s', (_, failed_reason, failedReason) => {
    expect(endByOthers({ ...GONE, ended: 'failed', failed_reason })).toMatchObject({ failedReason });
  });
});
