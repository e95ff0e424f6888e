import { ConnectionError, SluiceError } from '#client/index.js';
import { hasErrorPages, isForeign, outage, pause } from '../session/connection.js';
import { formatMoment } from '../text/format.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

/** The sentence for an error, wherever it is shown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ConnectionError) return 'Sluice cannot be reached. Check your connection.';
  if (isForeign(error)) {
    const { status } = error;
    return status === 401 || status === 403
      ? `A proxy in front of Sluice refused the request (status ${status}). Reload the page: it may ask you to sign in.`
      : `The response (status ${status}) is not from Sluice but from something in front of it, such as a proxy.`;
  }
  if (error instanceof SluiceError) return error.message;
  return 'Something in this page failed. Reload it.';
}

/** What an error says about one field of a form. */
export function fieldError(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof SluiceError)) return undefined;
  return error.problem?.errors?.find((one) => one.pointer === pointer)?.detail;
}

interface ProblemProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Fields whose errors are shown next to them. */
  readonly fields?: readonly string[];
}

/** Says what failed and what to do. What concerns the whole page is said by its banner. */
export function Problem({ error, onRetry, fields = [] }: ProblemProps) {
  if (error === null || error === undefined) return null;
  if (fields.some((pointer) => fieldError(error, pointer) !== undefined)) return null;
  // The banner says why. What failed to load is loaded again when it goes.
  if (onRetry !== undefined && (pause.value !== null || outage.value !== null))
    return (
      <p class="hint">
        {pause.value === null
          ? 'Loaded as soon as Sluice can be reached.'
          : `Loaded at ${formatMoment(pause.value.until)}, when requests are admitted again.`}
      </p>
    );
  const isKnown = error instanceof SluiceError && error.problem !== null;
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <p>{sentenceOf(error)}</p>
        {isKnown && (
          <p class="hint">
            {hasErrorPages() ? (
              <a href={`/errors/${error.code}`} target="_blank" rel="noreferrer">
                {error.code}
              </a>
            ) : (
              <code>{error.code}</code>
            )}{' '}
            {error.requestId !== null && <span class="request-id">Request {error.requestId}</span>}
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
