/** What the exit code of a command means; docs/cli.md lists them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** No key, or one that is unknown or lacks a scope. */
  refused: 3,
  /** The limits or the storage of the plan are used up. */
  limited: 4,
  /** No response, or one that asks to try again later. */
  unavailable: 5,
  /** By Ctrl-C, as shells report it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An expected failure: a sentence for the user, without a stack trace. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
  ) {
    super(message);
  }
}
