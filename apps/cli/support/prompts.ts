import { CliError, EXIT } from './exit-codes.js';

/** Whether somebody is there to answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks for something that must not be seen on the screen. */
export async function askSecret(message: string): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts');
  const answer = await password({ message, output: process.stderr });
  if (isCancel(answer)) throw new CliError('Cancelled.', EXIT.interrupted);
  return answer;
}

/** Asks before something that cannot be undone. Without a terminal, --yes is required instead. */
export async function confirm(message: string, isConfirmed: boolean | undefined): Promise<void> {
  if (isConfirmed === true) return;
  if (!isInteractive()) throw new CliError(`${message} Confirm with --yes.`, EXIT.usage);
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message, initialValue: false, output: process.stderr });
  if (answer !== true) throw new CliError('Cancelled.', EXIT.interrupted);
}
