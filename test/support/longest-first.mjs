import TestSequencer from '@jest/test-sequencer';

/** The longest first; below `test/`, without that folder. */
const LONGEST = [
  /bench.smoke\./,
  /docs.serving-pages\./,
  /faults.redis\./,
  /architecture.style\./,
  /(faults.redis-sentinel|portal.flows)\./,
  /(portal.(operators|views)|clients.clients|docs.pages|faults.(redis-cluster|verify|database-away|clocks))\./,
  /(container.image|client.many-faults|faults.(consumer|killed|rolling-restart|webhooks|worker-lost))\./,
  /(client.package|npm-start|request-to-delivery)\./,
  /(faults|neighbours|examples)./,
  /(webhooks.deliver|events.stream|contracts.delivery-queue|platform.database.database|cli.commands|client.held)\./,
  /(contracts.(messages|partitions|census)|pages.docs|fuzz|metrics|slow-readers|503-overload)\./,
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
