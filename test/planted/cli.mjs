const OUTPUT = 'apps/cli/support/output.ts';
const CREDENTIALS = 'apps/cli/files/credentials.ts';
const ERRORS = 'apps/cli/support/errors.ts';
const LINES = 'apps/cli/batch/lines.ts';
const LINES_SPEC = 'apps/cli/batch/lines.spec.ts';
const RUN = 'apps/cli/batch/batch-run.ts';
const RUN_SPEC = 'apps/cli/batch/batch-run.spec.ts';
const COMMANDS = 'test/cli/commands.spec.ts';
const STREAMS = 'test/cli/streams.spec.ts';
const OUTPUT_SPEC = 'apps/cli/support/output.spec.ts';
const ERRORS_SPEC = 'apps/cli/support/errors.spec.ts';
const CREDENTIALS_SPEC = 'apps/cli/files/stored-credentials.spec.ts';
const DATA_DIR = 'apps/dev/data-dir.ts';
const DATA_DIR_SPEC = 'apps/dev/data-dir.spec.ts';

export default [
  {
    what: 'JSON on a terminal contains what controls it',
    file: 'apps/cli/support/visible.ts',
    find: 'JSON.stringify(value, null, indent).replace(HIDDEN, (character) =>',
    replace: 'JSON.stringify(value, null, indent).replace(/\\n/g, (character) =>',
    tests: ['test/cli/hostile-texts.spec.ts'],
  },
  {
    what: 'control characters of others reach the terminal',
    file: 'apps/cli/support/visible.ts',
    find: '[\\p{Cc}\\p{Default_Ignorable_Code_Point}',
    replace: '[\\p{Default_Ignorable_Code_Point}',
    tests: [OUTPUT_SPEC],
  },
  {
    what: 'arguments that others wrote reach the terminal as they are',
    file: 'apps/cli/program.ts',
    find: 'write(visibleLines(withNearSuggestions(text), false));',
    replace: 'write(withNearSuggestions(text) || visibleLines(text, false));',
    tests: ['test/cli/hostile-texts.spec.ts'],
  },
  {
    what: 'text of others is shown in another direction, or has parts that nobody sees',
    file: 'apps/cli/support/visible.ts',
    find: '\\p{Default_Ignorable_Code_Point}',
    replace: '',
    tests: [OUTPUT_SPEC],
  },
  {
    what: 'what the service says is written as it is',
    file: OUTPUT,
    find: "text.split('\\n').map(visible).join('\\n')",
    replace: 'text',
    tests: [OUTPUT_SPEC],
  },
  {
    what: 'a cell of a table has several lines',
    file: OUTPUT,
    find: 'columns.map(([, text]) => visible(text(row)))',
    replace: 'columns.map(([, text]) => text(row))',
    tests: [OUTPUT_SPEC],
  },
  {
    what: '--json prints no JSON where a list is empty',
    file: OUTPUT,
    find: "if (this.isJson) this.line(count === 0 ? '[]' : '\\n]');",
    replace: "if (this.isJson) this.line(count === 0 ? '' : '\\n]');",
    tests: [OUTPUT_SPEC],
  },
  {
    what: '--json prints errors as sentences',
    file: ERRORS,
    find: 'if (output.isJson) output.note(',
    replace: 'if (output.isJson && id !== undefined) output.note(',
    tests: [ERRORS_SPEC],
  },
  {
    what: 'a key that is refused has the exit code of a failure',
    file: ERRORS,
    find: 'error instanceof AuthenticationError || error instanceof PermissionError',
    replace: 'error instanceof PermissionError',
    tests: [ERRORS_SPEC],
  },
  {
    what: 'a full storage has the exit code of an outage',
    file: ERRORS,
    find: "error instanceof RateLimitError || error.code === 'storage_full'",
    replace: 'error instanceof RateLimitError',
    tests: [ERRORS_SPEC],
  },
  {
    what: 'an outage has the exit code of a failure',
    file: ERRORS,
    find: '(error.status ?? 0) >= 500',
    replace: '(error.status ?? 0) >= 5000',
    tests: [ERRORS_SPEC],
  },
  {
    what: 'others can read the credentials',
    file: 'apps/cli/files/private-file.ts',
    find: 'chmodSync(temporary, 0o600);',
    replace: 'chmodSync(temporary, 0o644);',
    tests: [CREDENTIALS_SPEC, COMMANDS],
  },
  {
    what: 'others can read the credentials for a moment',
    file: 'apps/cli/files/private-file.ts',
    find: '{ mode: 0o600, flush: true }',
    replace: '{ flush: true }',
    tests: [CREDENTIALS_SPEC],
  },
  {
    what: 'a crash while the credentials are written loses them',
    file: 'apps/cli/files/private-file.ts',
    find: "const temporary = `${file}.${randomBytes(4).toString('hex')}`;",
    replace: 'const temporary = file.slice(0, randomBytes(4).length * 1_000);',
    tests: [CREDENTIALS_SPEC],
  },
  {
    what: 'the key of one service is sent to another',
    file: CREDENTIALS,
    find: 'return this.read().services[baseUrl] ?? {};',
    replace: 'return this.read().services[baseUrl] ?? Object.values(this.read().services)[0] ?? {};',
    tests: [CREDENTIALS_SPEC],
  },
  {
    what: 'a logout leaves the key',
    file: CREDENTIALS,
    find: 'current !== baseUrl && { current }), services: others',
    replace: 'current !== baseUrl && { current }), services: { ...others, [baseUrl]: removed }',
    tests: [CREDENTIALS_SPEC],
  },
  {
    what: 'a base URL with a password is in the error about it',
    file: 'apps/cli/input/urls.ts',
    find: '`${name} must be a URL like https://sluice.example.com, without a password, query or fragment.`',
    replace: '`${name} must be a URL like https://sluice.example.com, not ${text}.`',
    tests: ['apps/cli/input/urls.spec.ts'],
  },
  {
    what: 'two processes send the same batch',
    file: 'apps/cli/batch/lock.ts',
    find: 'if (holder !== null && isAlive(holder)) {',
    replace: 'if (holder !== null && isAlive(holder) && holder.pid === process.pid) {',
    tests: ['apps/cli/batch/lock.spec.ts'],
  },
  {
    what: 'the lock of a process that was killed is never taken over',
    file: 'apps/cli/batch/lock.ts',
    find: 'if (holder !== null && isAlive(holder)) {',
    replace: 'if (holder !== null) {',
    tests: ['apps/cli/batch/lock.spec.ts'],
  },
  {
    what: 'a run goes on after other lines than those that were sent',
    file: RUN,
    find: 'if (line === 0 || this.digest() === digest) return;',
    replace: 'if (line === 0 || digest !== null) return;',
    tests: [RUN_SPEC],
  },
  {
    what: 'a repetition has another idempotency key',
    file: RUN,
    find: '`sluice-batch-${this.state.run}-${this.state.line + 1}`',
    replace: '`sluice-batch-${randomUUID()}-${this.state.line + 1}`',
    tests: [RUN_SPEC],
  },
  {
    what: 'a request is repeated after its idempotency key is forgotten',
    file: RUN,
    find: 'Date.now() - Date.parse(at) > REMEMBERED_MS',
    replace: 'Date.now() - Date.parse(at) > 9 * REMEMBERED_MS',
    tests: [RUN_SPEC],
  },
  {
    what: 'the time in which a request can be repeated begins with each try',
    file: RUN,
    find: 'this.change({ at: at ?? new Date().toISOString() });',
    replace: 'this.change({ at: new Date().toISOString() });',
    tests: [RUN_SPEC],
  },
  {
    what: 'a run goes on for another account',
    file: RUN,
    find: 'state.owner !== terms.owner &&',
    replace: "state.owner === '' &&",
    tests: [RUN_SPEC],
  },
  {
    what: 'the CR of a line that ends with CR LF is sent',
    file: LINES,
    find: 'bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes',
    replace: 'bytes',
    tests: [LINES_SPEC],
  },
  {
    what: 'a line that is no UTF-8 is sent with U+FFFD',
    file: LINES,
    find: '{ fatal: true, ignoreBOM: true }',
    replace: '{ fatal: false, ignoreBOM: true }',
    tests: [LINES_SPEC],
  },
  {
    what: 'a line that never ends is kept in memory',
    file: LINES,
    find: 'if (buffer.length > maxBytes + 1) throw tooLong(number + 1, maxBytes);',
    replace: '',
    tests: [LINES_SPEC],
  },
  {
    what: 'a request has more bytes than the service accepts',
    file: LINES,
    find: 'taken.length > 0 && total + length > MAX_CHUNK_BYTES',
    replace: 'taken.length > 0 && total + length > 9 * MAX_CHUNK_BYTES',
    tests: [LINES_SPEC],
  },
  {
    what: 'a consumed message is acknowledged before its command has ended',
    file: 'apps/cli/support/consumer.ts',
    find: 'const reason = await handled;',
    replace: 'const reason = await Promise.race([handled, null]);',
    tests: [STREAMS],
  },
  {
    what: 'consume succeeds although an outcome is unknown',
    file: 'apps/cli/support/consumer.ts',
    find: 'if (unknown > 0) throw',
    replace: 'if (unknown < 0) throw',
    tests: [STREAMS],
  },
  {
    what: 'others can read generated secrets',
    file: DATA_DIR,
    find: "open(temporary, 'w', 0o600)",
    replace: "open(temporary, 'w', 0o644)",
    tests: [DATA_DIR_SPEC],
  },
  {
    what: 'a new development key overwrites the old one',
    file: DATA_DIR,
    find: 'await rename(this.file(name), kept)',
    replace: 'await rm(this.file(name), { force: kept === kept })',
    tests: [DATA_DIR_SPEC],
  },
  {
    what: 'a damaged secret is used',
    file: DATA_DIR,
    find: 'if (!/^[0-9a-f]{64}$/.test(secret)) {',
    replace: "if (secret === '') {",
    tests: [DATA_DIR_SPEC],
  },
  {
    what: 'an assistant may write although that was not allowed',
    file: 'apps/cli/mcp/server.ts',
    find: 'if (canWrite) addWrites(server, sluice);',
    replace: 'if (canWrite !== null) addWrites(server, sluice);',
    tests: ['test/cli/mcp.spec.ts'],
  },
  {
    what: 'a running call of an assistant gets no response when the input ends',
    file: 'apps/cli/mcp/stdio.ts',
    find: 'while (this.unanswered.length > 0)',
    replace: 'while (this.unanswered.length > 100)',
    tests: ['test/cli/mcp-input.spec.ts'],
  },
  {
    what: 'a message of an assistant is sent although an argument is misspelt',
    file: 'apps/cli/mcp/server.ts',
    find: 'inputSchema: z.strictObject({\n        message:',
    replace: 'inputSchema: z.object({\n        message:',
    tests: ['test/cli/mcp-input.spec.ts'],
  },
];
