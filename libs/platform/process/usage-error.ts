/** An error that the user of the program can fix. Its message is one complete sentence, printed without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
