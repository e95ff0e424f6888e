import type { Command } from 'commander';
import { withExamples } from '../input/arguments.js';
import type { Context } from '../support/context.js';
import { report } from '../support/errors.js';
import { CliError } from '../support/exit-codes.js';

export function addMcp(program: Command, context: Context): void {
  const mcp = program
    .command('mcp')
    .description('Serve the account to an AI assistant, by the Model Context Protocol on standard input and output')
    .option('--write', 'also offer tools that send, retry and replay')
    .action(async ({ write }: { write?: true }) => {
      const sluice = context.sluice();
      // Few need it, and it is large.
      const { serve } = await import('../mcp/server.js');
      await serve({
        sluice,
        version: program.version() ?? '',
        canWrite: write === true,
        onMalformed: (sentence) => report(new CliError(sentence), context.output),
      });
    });
  withExamples(mcp, 'sluice mcp', 'sluice mcp --write');
}
