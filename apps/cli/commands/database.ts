import type { Command } from 'commander';
import type { Context } from '../support/context.js';
import { EXIT } from '../support/exit-codes.js';

/** The commands that need the database. What they import is loaded when they run: it is most of the service. */
export function addDatabaseCommands(program: Command, context: Context): void {
  program
    .command('census')
    .description('Count the messages that nothing would deliver, in the database at DATABASE_URL or that of npm start')
    .action(async () => {
      const { census } = await import('../census.js');
      const strayMessages = await census();
      context.output.result(
        { strayMessages },
        () =>
          `${strayMessages} messages are queued or processing without an outbox entry, a live job or an unexpired claim.`,
      );
      process.exitCode = strayMessages === 0 ? EXIT.ok : EXIT.failed;
    });
  program
    .command('migrate')
    .description('Create the tables in the database at DATABASE_URL, or change them to those of this version')
    .action(async () => {
      const { migrate } = await import('../migrate.js');
      await migrate();
      context.output.result({ migrated: true }, () => 'The database has the tables of this version.');
    });
}
