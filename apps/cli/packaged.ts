#!/usr/bin/env node
/** The command line without the service: scripts/build-cli.mjs makes a package of it. */
import { run } from './run.js';

await run(new URL('package.json', import.meta.url));
