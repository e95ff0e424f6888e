/*
 * A clock of this process that runs ahead or behind, loaded before all else: CLOCK_FILE holds by how many milliseconds,
 * and is removed when it was read. Only `Date` is shifted, as when a machine's clock is set: timers use the monotonic one.
 */
const { readFileSync, rmSync } = require('node:fs');

const RealDate = Date;
let shift = 0;

function readShift() {
  try {
    shift = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
    rmSync(process.env.CLOCK_FILE);
  } catch {
    // Without the file, the clock stays as it is.
  }
}

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift);
    else super(...args);
  }

  static now() {
    return RealDate.now() + shift;
  }
};

readShift();
setInterval(readShift, 25).unref();
