import { Command, CommanderError } from 'commander';
import { addAccount } from './commands/account.js';
import { addAdmin } from './commands/admin.js';
import { addConsume } from './commands/consume.js';
import { addEndpoints } from './commands/endpoints.js';
import { addKeys } from './commands/keys.js';
import { addListen } from './commands/listen.js';
import { addLogin } from './commands/login.js';
import { addMcp } from './commands/mcp.js';
import { addMessages } from './commands/messages.js';
import { addOpen } from './commands/open.js';
import { addSend } from './commands/send.js';
import { addVerify } from './commands/verify.js';
import { withExamples } from './input/arguments.js';
import { withNearSuggestions } from './input/suggestions.js';
import { requirePeriod } from './input/times.js';
import { Context, type GlobalOptions } from './support/context.js';
import { report } from './support/errors.js';
import { CliError, EXIT } from './support/exit-codes.js';
import { Output } from './support/output.js';
import { visibleLines } from './support/visible.js';

/** What Node.js puts in place of bytes that are not valid UTF-8. */
const REPLACEMENT = '\ufffd';
const DAMAGED =
  'An argument is not valid UTF-8, or has the character U+FFFD. A message can be piped in, or be in a file.';

export type AddCommand = (program: Command, context: Context) => void;

/** `sluice`: docs/cli.md describes its commands. */
export class Program {
  readonly command = new Command('sluice');
  readonly context = new Context(() => this.command.opts<GlobalOptions>());
  /** Arguments that are invalid are reported before they are known. */
  private readonly isJson: boolean;

  /**
   * @param args without the names of the programs
   * @param operatorCommands those that only an installation of the service has
   */
  constructor(
    private readonly args: readonly string[],
    operatorCommands: readonly AddCommand[] = [],
  ) {
    const end = args.indexOf('--');
    this.isJson = args.slice(0, end < 0 ? args.length : end).includes('--json');
    this.command
      .description('Send, follow and consume the messages of Sluice')
      .option('--json', 'print JSON: one document, or one a line where results arrive one after another')
      .option('--base-url <url>', 'the address of the service (SLUICE_BASE_URL, or that of the last login)')
      .helpOption('-h, --help', 'print help')
      .configureHelp({ showGlobalOptions: true })
      .showHelpAfterError('Run the command with --help for its arguments.')
      .configureOutput({
        writeErr: (text) => this.isJson || process.stderr.write(text),
        outputError: (text, write) => {
          // It quotes arguments, which may be what others wrote.
          write(visibleLines(withNearSuggestions(text), false));
        },
      })
      .exitOverride()
      .hook('preAction', (_, command) => {
        requirePeriod(command);
      });
    withExamples(this.command, 'sluice login', "sluice send 'Hello, Sluice'", 'sluice tail').addHelpText(
      'after',
      '\nExit codes: 0 success, 1 failure, 2 invalid arguments, 3 no key or not allowed, 4 limits of the plan used up,\n' +
        '5 the service is unavailable, 130 interrupted.',
    );
    for (const [group, ...commands] of [
      ['Messages:', addSend, addMessages, addConsume, addListen, addMcp],
      ['Your account:', addLogin, addOpen, addAccount, addKeys, addEndpoints],
      ['For operators:', addAdmin, addVerify, ...operatorCommands],
    ] as const) {
      this.command.commandsGroup(group);
      for (const add of commands) add(this.command, this.context);
    }
  }

  /** Runs the command and reports its failure. @returns the exit code of a failure; undefined if there was none */
  async run(): Promise<number | undefined> {
    try {
      if (this.args.some((arg) => arg.includes(REPLACEMENT))) throw new CliError(DAMAGED, EXIT.usage);
      if (this.args.length === 0) this.command.outputHelp();
      else await this.command.parseAsync(this.args, { from: 'user' });
      return undefined;
    } catch (error) {
      return error instanceof CommanderError ? this.codeOf(error) : report(error, new Output(this.isJson));
    }
  }

  /** Help and the version are printed by way of an error, too; commander has printed the others, except as JSON. */
  private codeOf({ exitCode, code, message }: CommanderError): number {
    if (exitCode === 0) return EXIT.ok;
    const sentence =
      code === 'commander.help' ? 'A command is missing.' : withNearSuggestions(message).replace(/^error: /, '');
    if (this.isJson) report(new CliError(sentence), new Output(true));
    return EXIT.usage;
  }
}
