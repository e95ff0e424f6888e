#!/usr/bin/env node
import { addDatabaseCommands } from './commands/database.js';
import { run } from './run.js';

await run(new URL('../../../package.json', import.meta.url), [addDatabaseCommands]);
