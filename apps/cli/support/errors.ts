import { AuthenticationError, ConnectionError, PermissionError, RateLimitError, SluiceError } from '#client/index.js';
import { connectionSentence } from './connections.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';
import { type Output } from './output.js';
import { visible } from './visible.js';

interface Description {
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly json: object;
}

/** Reports a failure, of a certain thing if there are several: sentences, or a line of JSON. */
export function report(error: unknown, output: Output, id?: string): ExitCode {
  const { exitCode, text, json } = describeError(error);
  if (output.isJson) output.note(JSON.stringify({ error: { ...json, id } }));
  else output.error(id === undefined ? text : `${id}: ${text}`);
  return exitCode;
}

/** What a failed command reports: sentences without a stack trace. */
export function describeError(error: unknown): Description {
  if (error instanceof SluiceError) {
    const { code, status, message, requestId, retryAfter } = error;
    const errors = error.problem?.errors ?? [];
    // The field of a request that the sentence is about tells people nothing more.
    const more = errors.filter(({ pointer, detail }) => detail !== message || !/^($|\/)/.test(pointer));
    const faults = more.map(({ pointer, detail }) => `\n  ${visible(`${pointer}: ${detail}`)}`).join('');
    const details = requestId === null ? code : `${code}, request ${requestId}`;
    return {
      exitCode: exitCodeOf(error),
      text: `${sentenceOf(error)} (${details})${faults}`,
      json: { code, status, message, requestId, retryAfter, errors },
    };
  }
  const said = error instanceof Error ? error.message : String(error);
  const message = LACKS.test(said) ? INCOMPLETE : said;
  return { exitCode: error instanceof CliError ? error.exitCode : EXIT.failed, text: message, json: { message } };
}

/** What Node.js says of a response without something that is shown. */
const LACKS = /^Cannot (read properties of|destructure property .* of) .*\b(undefined|null)\b|is not (async )?iterable/;
const INCOMPLETE =
  'The response lacks what this command shows: is the service Sluice, and about as new as this program?';

function exitCodeOf(error: SluiceError): ExitCode {
  if ((error instanceof AuthenticationError || error instanceof PermissionError) && isFromSluice(error)) {
    return EXIT.refused;
  }
  if (error instanceof RateLimitError || error.code === 'storage_full') return EXIT.limited;
  return error instanceof ConnectionError || (error.status ?? 0) >= 500 ? EXIT.unavailable : EXIT.failed;
}

/** A proxy that asks for a password of its own says nothing about the key. */
function isFromSluice({ code }: SluiceError): boolean {
  return code !== 'unexpected_response';
}

/** The service explains its errors to programs; people need other remedies. */
function sentenceOf(error: SluiceError): string {
  if (error instanceof AuthenticationError && isFromSluice(error)) {
    return (
      'The API key is unknown, expired or revoked. Run sluice login with a valid one (for operators, sluice login ' +
      '--operator), or set SLUICE_API_KEY (SLUICE_ADMIN_API_KEY).'
    );
  }
  if (error instanceof ConnectionError) {
    return `${reasonOf(error)} Is this the right address? See --base-url and SLUICE_BASE_URL.`;
  }
  return reasonOf(error);
}

/** What happened, in a sentence, without a remedy. */
export function reasonOf(error: SluiceError): string {
  return visible(error instanceof ConnectionError ? connectionSentence(error) : error.message);
}
