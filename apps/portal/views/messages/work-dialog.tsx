import { useEffect, useRef, useState } from 'preact/hooks';
import type { Message } from '#client/index.js';
import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Loaded } from '../../components/loaded.js';
import { Problem, sentenceOf } from '../../components/problem.js';
import { pause } from '../../session/connection.js';
import { count, formatMoment, formatNumber, formatUpTo, previewOf } from '../../text/format.js';
import { useAction, useResource } from '../../loading/hooks.js';
import { hrefOf } from '../../navigation/finding.js';
import { describe, type Filter } from './filter.js';
import { allAtOnce, changeOne, counted, MAX_COUNTED, NEEDED, NOTHING_TO_REPLAY, type Work } from './works.js';

const TEXTS: Readonly<Record<Work, { readonly button: string; readonly done: string; readonly effect: string }>> = {
  retry: { button: 'Retry', done: 'queued again', effect: 'They are queued again, with a new set of attempts.' },
  cancel: {
    button: 'Cancel them',
    done: 'cancelled',
    effect: 'They are not delivered any more. This cannot be undone.',
  },
  replay: {
    button: 'Replay',
    done: 'posted to the endpoint again',
    effect: 'The endpoint gets them again, and whatever else it has missed in this time.',
  },
};

interface WorkDialogProps {
  readonly work: Work;
  /** Those that were selected, or all that match a filter. */
  readonly of: readonly Message[] | Filter;
  /** What the endpoint of the filter is called. */
  readonly endpoint: string | undefined;
  readonly onClose: () => void;
}

/** Says how many messages are meant, changes them, and names those that could not be changed. */
export function WorkDialog({ work, of, endpoint, onClose }: WorkDialogProps) {
  const [until] = useState(() => new Date().toISOString());
  const messages = useResource(async () => {
    if (!isSelection(of)) return counted(work, of, until);
    return of.filter(({ status }) => status === NEEDED[work]);
  }, []);
  return (
    <Dialog
      title={`${TEXTS[work].button}: ${isSelection(of) ? 'selected messages' : describe(of, endpoint)}`}
      onClose={onClose}
    >
      <Loaded resource={messages} rows={2}>
        {(found) => (
          <Confirmed
            {...{ work, onClose, messages: found }}
            left={isSelection(of) ? of.length - found.length : 0}
            atOnce={isSelection(of) ? null : allAtOnce(work, of, until)}
          />
        )}
      </Loaded>
    </Dialog>
  );
}

const isSelection = (of: readonly Message[] | Filter): of is readonly Message[] => Array.isArray(of);

interface ConfirmedProps {
  readonly work: Work;
  readonly messages: readonly Message[];
  /** How many were selected that it is not for. */
  readonly left: number;
  readonly atOnce: ReturnType<typeof allAtOnce> | null;
  readonly onClose: () => void;
}

interface Progress {
  readonly tried: number;
  readonly failures: readonly { readonly message: Message; readonly error: unknown }[];
  /** How many were changed at once, if they were. */
  readonly total: number | null;
}

function Confirmed({ work, messages, left, atOnce, onClose }: ConfirmedProps) {
  const [{ tried, failures, total }, setProgress] = useState<Progress>({ tried: 0, failures: [], total: null });
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  const { run, isRunning, error } = useAction(async () => {
    if (work === 'replay' || atOnce !== null) {
      const all = (await atOnce?.(() => isStopped.current)) ?? 0;
      setProgress((last) => ({ ...last, total: all }));
      return;
    }
    for (const message of messages.slice(tried)) {
      // Whoever closes it leaves the rest as it is.
      if (isStopped.current) return;
      const failure = await changeOne(work, message.id, () => isStopped.current);
      setProgress((last) => ({
        ...{ ...last, tried: last.tried + 1 },
        failures: failure === null ? last.failures : [...last.failures, { message, error: failure }],
      }));
    }
  });
  const number = messages.length;
  const isDone = total !== null || (tried === number && number > 0);
  const texts = TEXTS[work];
  const changed = total ?? tried - failures.length;
  return (
    <>
      {!isDone && (
        <p>
          {number === 0 ? 'No' : formatUpTo(MAX_COUNTED, number)} {NEEDED[work]} {number === 1 ? 'message' : 'messages'}
          {left > 0 && ` of ${formatNumber(number + left)} that are selected`}. {number > 0 && texts.effect}
        </p>
      )}
      {(isRunning || tried > 0) && atOnce === null && (
        <label class="progress">
          {formatNumber(tried)} of {formatNumber(number)}
          <progress max={number} value={tried} />
        </label>
      )}
      <div aria-live="polite">
        {isRunning && pause.value !== null && (
          <p class="hint">Goes on at {formatMoment(pause.value.until)}, when requests are admitted again.</p>
        )}
        {isDone && (
          <p>
            {work === 'replay' && changed === 0
              ? NOTHING_TO_REPLAY
              : `${count(changed, 'message')} ${changed === 1 ? 'is' : 'are'} ${texts.done}.`}
          </p>
        )}
        {failures.length > 0 && (
          <>
            <p class="field-error">{count(failures.length, 'message')} could not be changed:</p>
            <ul class="failures">
              {failures.map(({ message, error: reason }) => (
                <li key={message.id}>
                  <a href={hrefOf(message.id)}>
                    <bdi class="preview">{previewOf(message.message)}</bdi>
                  </a>
                  <p class="hint">{sentenceOf(reason)}</p>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <Problem error={error} />
      <footer class="actions">
        <Button onClick={onClose}>{isDone || number === 0 ? 'Done' : isRunning ? 'Stop' : 'Leave them'}</Button>
        {!isDone && number > 0 && (
          <Button look={work === 'cancel' ? 'danger' : 'primary'} isBusy={isRunning} onClick={() => void run()}>
            {isRunning ? 'Working …' : tried > 0 ? 'Go on' : texts.button}
          </Button>
        )}
      </footer>
    </>
  );
}
