import { ConnectionError, SluiceError } from '#client/index.js';
import { hasErrorPages, isAway, pause } from '../connection.js';
import { formatMoment } from '../format.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

/** The sentence for an error, wherever it is shown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ConnectionError) return 'Sluice cannot be reached. Check your connection.';
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
  if (onRetry !== undefined && (pause.value !== null || isAway.value))
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
