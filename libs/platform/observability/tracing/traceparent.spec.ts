import { parseTraceparent, traceIdOf } from './traceparent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${PARENT}-01`;

describe('parseTraceparent', () => {
  it.each([VALID, `00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-03`])('accepts %s', (header) => {
    expect(parseTraceparent(header)).toBe(header);
  });

  it.each([
    ['unknown flags', `00-${TRACE}-${PARENT}-fd`, VALID],
    ['a later version', `01-${TRACE}-${PARENT}-01`, VALID],
    ['a later version that goes on', `cc-${TRACE}-${PARENT}-01-what-will-be`, VALID],
  ])('reads %s as version 00', (_what, header, parsed) => {
    expect(parseTraceparent(header)).toBe(parsed);
  });

  it.each([
    ['nothing', ''],
    ['upper case', VALID.toUpperCase()],
    ['version ff', `ff-${TRACE}-${PARENT}-01`],
    ['a version that is not hexadecimal', `0g-${TRACE}-${PARENT}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short trace id', `00-${TRACE.slice(1)}-${PARENT}-01`],
    ['a long parent id', `00-${TRACE}-${PARENT}0-01`],
    ['version 00 that goes on', `${VALID}-00`],
    ['version 00 that goes on emptily', `${VALID}-`],
    ['a later version that goes on without a dash', `01-${TRACE}-${PARENT}-01.x`],
    ['one flag', `00-${TRACE}-${PARENT}-1`],
    ['blanks around it', ` ${VALID} `],
    ['a line break behind it', `${VALID}\n`],
    ['two of them', `${VALID}, ${VALID}`],
  ])('ignores %s', (_what, header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('ignores a missing or repeated header', () => {
    for (const header of [undefined, [VALID, VALID]]) expect(parseTraceparent(header)).toBeNull();
  });
});

it('knows the trace id for log lines', () => {
  expect(traceIdOf(VALID)).toBe(TRACE);
  expect(traceIdOf(null)).toBeUndefined();
});
