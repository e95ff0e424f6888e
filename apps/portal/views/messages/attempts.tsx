import { useRef, useState } from 'preact/hooks';
import type { Attempt, Message, MessageDelivery } from '#client/index.js';
import { Button } from '../../components/button.js';
import { endpointName, EndpointLink, reasonText, retryText } from '../../components/messages/deliveries.js';
import { Badge, Time, type Tone } from '../../components/parts.js';
import { formatMilliseconds, formatNumber } from '../../text/format.js';
import { nameHidden } from '../../text/hidden-characters.js';

/** A message that was often retried can have many more. */
const SHOWN_ATTEMPTS = 20;

const OUTCOME_TONES: Readonly<Record<Attempt['outcome'], Tone>> = {
  running: 'warn',
  delivered: 'good',
  retried: 'bad',
  failed: 'bad',
  lost: 'bad',
};

/** Those that are no endpoints. */
const TARGETS: Readonly<Record<string, string>> = {
  handler: 'the built-in worker',
  worker: 'a worker of another program',
  pull: 'clients that pull',
};

interface AttemptsProps {
  readonly attempts: readonly Attempt[];
  readonly message: Message;
  /** Empty for a message that is not for endpoints. */
  readonly deliveries: readonly MessageDelivery[];
}

/** Those to each endpoint, or to each kind of consumer, below its name. */
export function Attempts({ attempts, message, deliveries }: AttemptsProps) {
  const targets = [...new Set(attempts.map(({ target }) => target))];
  return (
    <>
      {targets.map((target) => {
        const delivery = deliveries.find(({ endpointId }) => endpointId === target);
        return (
          <div key={target} class="target">
            <h3>
              To{' '}
              {target.startsWith('ep_') ? (
                <EndpointLink id={target} name={delivery && endpointName(delivery)} />
              ) : (
                (TARGETS[target] ?? target)
              )}
            </h3>
            <AttemptList
              attempts={attempts.filter((attempt) => attempt.target === target)}
              waiting={delivery ?? message}
            />
          </div>
        );
      })}
    </>
  );
}

/** What may follow the last attempt. */
type Waiting = Pick<Message | MessageDelivery, 'status' | 'nextAttemptAt'>;

/** The newest first. */
function AttemptList({ attempts, waiting }: { attempts: readonly Attempt[]; waiting: Waiting }) {
  const list = useRef<HTMLOListElement>(null);
  const [isWhole, setIsWhole] = useState(false);
  const shown = attempts.toReversed().slice(0, isWhole ? Infinity : SHOWN_ATTEMPTS);
  const hidden = attempts.length - shown.length;
  return (
    <>
      <ol ref={list} class="attempts" tabIndex={-1}>
        {shown.map((attempt, index) => (
          <AttemptItem key={attempt.number} attempt={attempt} outcome={outcomeOf(attempt, index === 0, waiting)} />
        ))}
      </ol>
      {hidden > 0 && (
        <>
          <p class="hint">Earlier attempts that are not shown: {formatNumber(hidden)}.</p>
          <Button
            onClick={() => {
              setIsWhole(true);
              list.current?.focus();
            }}
          >
            Show all {formatNumber(attempts.length)}
          </Button>
        </>
      )}
    </>
  );
}

/** What an attempt says about the one that follows it. */
function outcomeOf({ outcome }: Attempt, isLast: boolean, { status, nextAttemptAt }: Waiting): string {
  if (outcome !== 'retried') return outcome;
  if (!isLast) return 'Failed, retried';
  return status === 'pending' || status === 'queued' ? retryText(nextAttemptAt) : 'Failed';
}

function AttemptItem({ attempt, outcome }: { attempt: Attempt; outcome: string }) {
  const { number, startedAt, durationMs, error, responseStatus, responseBody } = attempt;
  return (
    <li>
      <p>
        <strong>{number}</strong>
        <Badge tone={OUTCOME_TONES[attempt.outcome]}>
          <span class={outcome === attempt.outcome ? 'status' : undefined}>{outcome}</span>
        </Badge>
        <span class="hint">
          <Time at={startedAt} />
          {durationMs !== null && ` · ${formatMilliseconds(durationMs)}`}
          {responseStatus !== null && ` · status ${responseStatus}`}
        </span>
      </p>
      {error !== null && <p class="field-error">{reasonText(error)}</p>}
      {responseBody !== null && responseBody !== '' && (
        <pre class="body" dir="auto" tabIndex={0} aria-label={`Response to attempt ${number}`}>
          {nameHidden(responseBody)}
        </pre>
      )}
    </li>
  );
}
