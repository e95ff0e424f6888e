import { Session } from 'node:inspector';

/** Loaded before a program (`--import`): prints the names of the modules that it has loaded when it ends. */
const loaded = new Set();
const session = new Session();
session.connect();
session.on('Debugger.scriptParsed', ({ params: { url } }) => loaded.add(url.replace(/.*\//, '')));
session.post('Debugger.enable');
process.on('exit', () => process.stdout.write(`Modules: ${JSON.stringify([...loaded])}\n`));
