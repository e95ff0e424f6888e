import { setImmediate as loopIteration } from 'node:timers/promises';
import fc from 'fast-check';
import { ReadWriteLock } from './read-write-lock.js';

/** A piece of work that the test ends. */
class Work {
  started = false;
  running = false;
  end: (succeeds: boolean) => void = () => undefined;
  /** How it ended, which the lock must pass on. */
  expected = '';
  readonly outcome: Promise<string>;

  constructor(
    lock: ReadWriteLock,
    readonly exclusive: boolean,
  ) {
    const work = () =>
      new Promise<string>((resolve, reject) => {
        this.started = this.running = true;
        this.end = (succeeds) => {
          this.running = false;
          this.expected = succeeds ? 'done' : 'failed';
          if (succeeds) resolve('done');
          else reject(new Error('failed'));
        };
      });
    const ran = exclusive ? lock.exclusive(work) : lock.shared(work);
    this.outcome = ran.catch((error: unknown) => (error as Error).message);
  }
}

function conflict(one: Work, other: Work): boolean {
  return one !== other && (one.exclusive || other.exclusive);
}

/** @param all in the order in which they came */
function expectOrder(all: readonly Work[]): void {
  const running = all.filter((work) => work.running);
  const excluded = running.filter((work) => running.some((other) => conflict(work, other)));
  expect(excluded).toEqual([]);
  const overtaken = all.filter(
    (work, index) => !work.started && all.slice(index).some((later) => later.started && conflict(work, later)),
  );
  expect(overtaken).toEqual([]);
  const first = all.find((work) => !work.started);
  expect(first === undefined || running.some((work) => conflict(first, work))).toBe(true);
}

const begin = fc.record({ exclusive: fc.boolean() });
const end = fc.record({ nth: fc.nat(20), succeeds: fc.boolean() });

describe('ReadWriteLock', () => {
  it('runs nothing beside exclusive work, keeps the order, runs everything and passes on each result', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(begin, end), { maxLength: 40, size: 'max' }), async (commands) => {
        const lock = new ReadWriteLock();
        const all: Work[] = [];
        const running = () => all.filter((work) => work.running);
        for (const command of commands) {
          if ('exclusive' in command) {
            all.push(new Work(lock, command.exclusive));
          } else {
            running()[command.nth % running().length]?.end(command.succeeds);
          }
          await loopIteration();
          expectOrder(all);
        }
        while (running().length > 0) {
          running()[0]?.end(true);
          await loopIteration();
        }
        expect(all.every((work) => work.started)).toBe(true);
        expect(await Promise.all(all.map((work) => work.outcome))).toEqual(all.map((work) => work.expected));
      }),
    );
  });
});
