import { useEffect, useRef, useState } from 'preact/hooks';
import type { Attempt, Message, MessageDelivery } from '#client/index.js';
import { announce } from '../../components/announcer.js';
import { Button, CopyButton } from '../../components/button.js';
import { endpointName, EndpointLink, MessageDeliveries, retryText } from '../../components/messages/deliveries.js';
import { Loaded } from '../../components/loaded.js';
import { MetadataCard } from '../../components/messages/message-fields.js';
import { Badge, Card, Empty, Fact, Facts, Id, Page, Status, Time, type Tone } from '../../components/parts.js';
import { Problem } from '../../components/problem.js';
import { call } from '../../connection.js';
import { beginning, byteLength, formatBytes, formatMilliseconds, formatNumber, formatTime } from '../../format.js';
import { useAction, useResource } from '../../hooks.js';
import { newest, useMessageEvents, useReloadWhenLive } from '../../live.js';
import { href } from '../../router.js';
import { can } from '../../session.js';
import { nameHidden } from '../../hidden-characters.js';

/** More makes browsers slow, and nobody reads it. */
const SHOWN_LENGTH = 4_000;
/** A message for several endpoints can have many more. */
const SHOWN_ATTEMPTS = 20;
/** How long after a change the attempts are loaded again: each time costs a request of the plan. */
const SETTLED_MS = 500;

const DELIVERIES: Readonly<Record<Message['delivery'], string>> = {
  handler: 'By the built-in worker',
  webhooks: 'By webhooks',
  pull: 'To clients that pull',
};

export function MessageView({ id }: { id: string }) {
  const message = useResource(() => call((client) => client.messages.get(id)), [id], newest);
  const attempts = useResource(() => call((client) => client.messages.attempts(id)), [id]);

  const { data } = message;
  const hasEndpoints = data?.delivery === 'webhooks';
  const deliveries = useResource(
    () => (hasEndpoints ? call((client) => client.messages.deliveries(id)) : Promise.resolve([])),
    [id, data?.delivery],
  );
  useReloadWhenLive(message.reload);
  useMessageEvents(
    (changed) => {
      if (changed.id !== id) return;
      message.set((known) => newest(known, changed));
      announce(`The message is ${changed.status}.`);
    },
    [id],
  );
  const loaded = useRef('');
  useEffect(() => {
    const updatedAt = data?.updatedAt ?? '';
    const isFirst = loaded.current === '';
    loaded.current = updatedAt;
    if (isFirst) return undefined;
    // One attempt is several events.
    const timer = setTimeout(() => {
      attempts.reload();
      if (hasEndpoints) deliveries.reload();
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [data?.updatedAt]);

  const change = useAction(async (work: 'cancel' | 'retry') => {
    const changed = await call((client) => client.messages[work](id));
    message.set(() => newest(changed));
    announce(work === 'cancel' ? 'The message is cancelled.' : 'The message is queued again.');
  });

  return (
    <Page
      title="Message"
      back={{ label: 'Messages', to: href('messages') }}
      badge={data !== null && <Status status={data.status} />}
      actions={
        can('messages:send') && (
          <>
            {data?.status === 'queued' && (
              <Button look="danger" isBusy={change.isRunning} onClick={() => void change.run('cancel')}>
                Cancel the message
              </Button>
            )}
            {data?.status === 'failed' && (
              <Button look="primary" icon="refresh" isBusy={change.isRunning} onClick={() => void change.run('retry')}>
                Retry
              </Button>
            )}
          </>
        )
      }
    >
      <Problem error={change.error} />
      <Loaded resource={message} rows={6}>
        {(shown) => (
          <div class="columns detail">
            <div>
              <Body text={shown.message} />
              {shown.metadata !== undefined && Object.keys(shown.metadata).length > 0 && (
                <MetadataCard metadata={shown.metadata} />
              )}
              <Problem error={deliveries.error} onRetry={deliveries.reload} />
              <MessageDeliveries deliveries={deliveries.data ?? []} />
              <Card title="Attempts">
                <Loaded resource={attempts} rows={2}>
                  {(made) =>
                    made.length > 0 ? (
                      <Attempts attempts={made} message={shown} deliveries={deliveries.data ?? []} />
                    ) : (
                      <p class="hint">
                        {shown.status === 'cancelled'
                          ? 'None: it was cancelled before.'
                          : shown.status === 'skipped'
                            ? 'None: no endpoint wants messages of its type. Replay it to one that does.'
                            : shown.failureReason === 'no_endpoint'
                              ? 'None: no endpoint was enabled when it was accepted. Add or enable one, then retry.'
                              : 'None yet. They appear here as they happen.'}
                      </p>
                    )
                  }
                </Loaded>
              </Card>
            </div>
            <Card title="Details">
              <Facts>
                {shown.failureReason !== null && (
                  <Fact name="Failure">
                    <bdi>{nameHidden(shown.failureReason)}</bdi>
                  </Fact>
                )}
                <Fact name="Id">
                  <Id id={shown.id} what="id of the message" />
                </Fact>
                <Fact name="Created">{formatTime(shown.createdAt)}</Fact>
                <Fact name="Updated">
                  <Time at={shown.updatedAt} />
                </Fact>
                {shown.deliverAt !== null && <Fact name="Deliver at">{formatTime(shown.deliverAt)}</Fact>}
                {shown.type !== undefined && (
                  <Fact name="Type">
                    <a href={href('messages', { type: shown.type })}>
                      <code>{shown.type}</code>
                    </a>
                  </Fact>
                )}
                {shown.orderingKey !== undefined && (
                  <Fact name="Ordering key">
                    <code>{shown.orderingKey}</code>
                  </Fact>
                )}
                <Fact name="Delivery">{DELIVERIES[shown.delivery]}</Fact>
                <Fact name="Attempts">{shown.attempts}</Fact>
                {shown.nextAttemptAt !== null && (
                  <Fact name="Next attempt">
                    <Time at={shown.nextAttemptAt} />
                  </Fact>
                )}
              </Facts>
            </Card>
          </div>
        )}
      </Loaded>
      {message.error !== null && data === null && (
        <Empty title="This message cannot be shown">
          <p>
            <a href={href('messages')}>Show all messages</a>
          </p>
        </Empty>
      )}
    </Page>
  );
}

function Body({ text }: { text: string }) {
  const body = useRef<HTMLPreElement>(null);
  const [isWhole, setIsWhole] = useState(text.length <= SHOWN_LENGTH);
  const size = formatBytes(byteLength(text));
  return (
    <Card title="Message" actions={<CopyButton text={text} what="message" />}>
      <pre ref={body} class="body" dir="auto" tabIndex={0} aria-label="The text of the message">
        {nameHidden(isWhole ? text : `${beginning(text, SHOWN_LENGTH)}…`)}
      </pre>
      {!isWhole && (
        <Button
          onClick={() => {
            setIsWhole(true);
            body.current?.focus();
          }}
        >
          Show all {size}
        </Button>
      )}
    </Card>
  );
}

const OUTCOME_TONES: Readonly<Record<Attempt['outcome'], Tone>> = {
  running: 'warn',
  delivered: 'good',
  retried: 'bad',
  failed: 'bad',
  lost: 'bad',
};

interface AttemptsProps {
  readonly attempts: readonly Attempt[];
  readonly message: Message;
  /** Empty for a message that is not for endpoints. */
  readonly deliveries: readonly MessageDelivery[];
}

/** The newest first. */
function Attempts({ attempts, message, deliveries }: AttemptsProps) {
  const list = useRef<HTMLOListElement>(null);
  const [isWhole, setIsWhole] = useState(false);
  const shown = attempts.toReversed().slice(0, isWhole ? Infinity : SHOWN_ATTEMPTS);
  const hidden = attempts.length - shown.length;
  return (
    <>
      <ol ref={list} class="attempts" tabIndex={-1}>
        {shown.map((attempt) => (
          <AttemptItem
            key={attempt.number}
            attempt={attempt}
            delivery={deliveries.find(({ endpointId }) => endpointId === attempt.target)}
            outcome={outcomeOf(attempt, attempts, message, deliveries)}
          />
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

/** What an attempt that another one follows says about that. */
function outcomeOf(
  attempt: Attempt,
  attempts: readonly Attempt[],
  message: Message,
  deliveries: readonly MessageDelivery[],
) {
  const { outcome, target, number } = attempt;
  if (outcome !== 'retried') return outcome;
  if (attempts.some((later) => later.target === target && later.number > number)) return 'Failed, retried';
  const { status, nextAttemptAt } = deliveries.find(({ endpointId }) => endpointId === target) ?? message;
  return status === 'pending' || status === 'queued' ? retryText(nextAttemptAt) : 'Failed';
}

interface AttemptItemProps {
  readonly attempt: Attempt;
  /** To the endpoint that it was made to. */
  readonly delivery: MessageDelivery | undefined;
  readonly outcome: string;
}

function AttemptItem({ attempt, delivery, outcome }: AttemptItemProps) {
  const { number, target, startedAt, durationMs, error, responseStatus, responseBody } = attempt;
  return (
    <li>
      <p>
        <strong>{number}</strong>
        <Badge tone={OUTCOME_TONES[attempt.outcome]}>
          <span class={outcome === attempt.outcome ? 'status' : undefined}>{outcome}</span>
        </Badge>
        <span class="hint">
          <Time at={startedAt} />
          {durationMs !== null && ` · ${formatMilliseconds(durationMs)}`} · to{' '}
          {target.startsWith('ep_') ? <EndpointLink id={target} name={delivery && endpointName(delivery)} /> : target}
          {responseStatus !== null && ` · status ${responseStatus}`}
        </span>
      </p>
      {error !== null && <p class="field-error">{nameHidden(error)}</p>}
      {responseBody !== null && responseBody !== '' && (
        <pre class="body" dir="auto" tabIndex={0} aria-label={`Response to attempt ${number}`}>
          {nameHidden(responseBody)}
        </pre>
      )}
    </li>
  );
}
