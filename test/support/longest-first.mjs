import TestSequencer from '@jest/test-sequencer';

/** The longest first; below `test/`, without that folder. */
const LONGEST = [
  /bench.smoke\./,
  /docs.serving-pages\./,
  /faults.redis\./,
  /(faults.redis-sentinel|portal.flows)\./,
  /(architecture.style|portal.(operators|views)|clients.clients|docs.pages|faults.(redis-cluster|verify|database-away|clocks))\./,
  /(container.image|client.many-faults|faults.(consumer|killed|rolling-restart|webhooks|worker-lost))\./,
  /(client.package|npm-start|request-to-delivery)\./,
  /(faults|neighbours|examples)./,
  /pages.docs\./,
];

/** Files whose tests mostly wait: beside each other, they would leave the processor idle. */
const WAITING = [
  /(platform.database.database|client.(held|events|consume|calls)|cli.(commands|streams)|events.stream|hostile.fuzz)\./,
  /contracts.(delivery-queue|messages|partitions|census|accounts|redis-queue|batching-backend)\./,
  /(webhooks.deliver|leases.lease|post-messages.507|edge.(408|503-overload|slow-readers)|management.(metrics|health))\./,
  /(limits.(floods|bans|windows)|admin.suspend|openapi.every-response)\./,
];

/** Starts the longest files first: started last, they would run alone while the other workers idle. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const indexIn = (patterns) => (test) => {
      const index = patterns.findIndex((pattern) => pattern.test(test.path.split(/[/\\]test[/\\]/).at(-1)));
      return index < 0 ? patterns.length : index;
    };
    const [rank, isWaiting] = [indexIn(LONGEST), (test) => indexIn(WAITING)(test) < WAITING.length];
    const sorted = super.sort(tests);
    const long = sorted.filter((test) => rank(test) < LONGEST.length).sort((one, other) => rank(one) - rank(other));
    const short = sorted.filter((test) => rank(test) === LONGEST.length);
    return [
      ...long,
      ...mix(
        short.filter(isWaiting),
        short.filter((test) => !isWaiting(test)),
      ),
    ];
  }
}

/** Spreads the files that wait among the first three quarters of the others. */
function mix(waiting, others) {
  const apart = Math.max(1, Math.floor((0.75 * others.length) / waiting.length));
  const mixed = others.flatMap((test, index) => [...(index % apart === 0 ? waiting.splice(0, 1) : []), test]);
  return [...mixed, ...waiting];
}
