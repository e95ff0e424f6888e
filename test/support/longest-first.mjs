import TestSequencer from '@jest/test-sequencer';

/** The longest first; below `test/`, without that folder. */
const LONGEST = [
  /bench.smoke\./,
  /docs.serving-pages\./,
  /faults.redis\./,
  /(faults.redis-sentinel|portal.flows)\./,
  /(docs.pages|cli.commands|contracts.(job-queue|order.order)|webhooks.deliver|admin.delete-account)\./,
  /(portal.(operators|views)|clients.(clients|python)|faults.(redis-cluster|verify|database-away|clocks))\./,
  /(container.image|client.many-faults|faults.(consumer|killed|rolling-restart|webhooks|worker-lost))\./,
  /(client.package|npm-start|request-to-delivery)\./,
  /(faults|neighbours|examples)./,
  /pages.docs\./,
];

/** Files whose tests mostly wait: beside each other, they would leave the processor idle. */
const WAITING = [
  /(platform.database.database|client.(held|events|consume|calls)|cli.streams|events.stream|hostile.fuzz)\./,
  /contracts.(messages|partitions|census|accounts|redis-queue|batching-backend)\./,
  /(leases.lease|post-messages.507|edge.(408|503-overload|slow-readers)|management.(metrics|health))\./,
  /(limits.(floods|bans|windows)|admin.suspend|openapi.every-response)\./,
];

/** Starts the longest files first: started last, they would run alone while the other workers idle. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const rank = (test) => LONGEST.findIndex((pattern) => pattern.test(nameOf(test)));
    const isWaiting = (test) => WAITING.some((pattern) => pattern.test(nameOf(test)));
    const long = sorted.filter((test) => rank(test) >= 0).sort((one, other) => rank(one) - rank(other));
    const short = sorted.filter((test) => rank(test) < 0);
    return [
      ...long,
      ...mix(
        short.filter(isWaiting),
        short.filter((test) => !isWaiting(test)),
      ),
    ];
  }
}

function nameOf({ path }) {
  return path.split(/[/\\]test[/\\]/).at(-1);
}

/** Spreads the files that wait among the first three quarters of the others. */
function mix(waiting, others) {
  const apart = Math.max(1, Math.floor((0.75 * others.length) / waiting.length));
  const mixed = others.flatMap((test, index) => [...(index % apart === 0 ? waiting.splice(0, 1) : []), test]);
  return [...mixed, ...waiting];
}
