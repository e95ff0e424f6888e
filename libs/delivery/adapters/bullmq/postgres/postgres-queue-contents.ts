import { IN_POSTGRESQL, QueueContents, type QueueIdentity } from '../../../application/queue-contents.js';

/** The database of the messages has their jobs as well: it can't lose only these. */
export class PostgresQueueContents extends QueueContents {
  identity(): Promise<QueueIdentity> {
    return Promise.resolve({ dataSet: IN_POSTGRESQL, contents: IN_POSTGRESQL });
  }

  /** A queue on Redis can't be reached any more: the walk finds its messages. */
  takeOver(): Promise<boolean> {
    return Promise.resolve(false);
  }
}
