#!/usr/bin/env node
import { addCensus } from './commands/census.js';
import { run } from './run.js';

await run(new URL('../../../package.json', import.meta.url), [addCensus]);
