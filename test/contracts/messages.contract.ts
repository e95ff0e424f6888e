import { describeAccepting } from './messages/accepting.contract.js';
import { describeChanging } from './messages/changing.contract.js';
import { describeFinding } from './messages/finding.contract.js';
import { describeIdempotency } from './messages/idempotency.contract.js';
import type { MessagesSubject } from './messages/subject.js';

/** What every store of messages guarantees. */
export function describeMessages(name: string, open: () => Promise<MessagesSubject>): void {
  describe(name, () => {
    // Its parts are there when the tests run.
    const subject = {} as MessagesSubject;
    beforeAll(async () => Object.assign(subject, await open()));
    beforeEach(() => subject.reset());
    afterAll(() => subject.close());

    describeAccepting(subject);
    describeFinding(subject);
    describeChanging(subject);
    describeIdempotency(subject);
  });
}
