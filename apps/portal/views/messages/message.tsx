import { useEffect, useRef } from 'preact/hooks';
import type { Message } from '#client/index.js';
import { announce } from '../../components/announcer.js';
import { Button } from '../../components/button.js';
import { MessageDeliveries, reasonText } from '../../components/messages/deliveries.js';
import { Loaded } from '../../components/loaded.js';
import { MetadataCard } from '../../components/messages/message-fields.js';
import { Card, Empty, Fact, Facts, Id, Page, Status, Time } from '../../components/parts.js';
import { Problem } from '../../components/problem.js';
import { call } from '../../session/connection.js';
import { beginning, formatTime, previewOf } from '../../text/format.js';
import { useAction, useResource } from '../../loading/hooks.js';
import { newest, useMessageEvents, useReloadWhenLive } from '../../loading/live.js';
import { href } from '../../navigation/router.js';
import { can } from '../../session/session.js';
import { Attempts } from './attempts.js';
import { Body } from './body.js';
import { CopyAs, SendAgain } from './send-again.js';

/** How long after a change the attempts are loaded again: each time costs a request of the plan. */
const SETTLED_MS = 500;

/** Browsers show less of it. */
const TAB_LENGTH = 40;

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
  const endpoints = (deliveries.data ?? []).map((one) => ({ ...one, id: one.endpointId }));
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
      tab={data === null ? undefined : `${beginning(previewOf(data.message), TAB_LENGTH)} · ${data.status} message`}
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
            {data !== null && <SendAgain message={data} />}
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
            <div>
              <Card title="Details">
                <Facts>
                  {shown.failureReason !== null && (
                    <Fact name="Failure">
                      <bdi>{reasonText(shown.failureReason, endpoints)}</bdi>
                    </Fact>
                  )}
                  <Fact name="Id">
                    <Id id={shown.id} what="id of the message" />
                  </Fact>
                  <Fact name="Created">{formatTime(shown.createdAt)}</Fact>
                  <Fact name="Updated">
                    <Time at={shown.updatedAt} />
                  </Fact>
                  {shown.deliverAt !== undefined && <Fact name="Deliver at">{formatTime(shown.deliverAt)}</Fact>}
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
              <CopyAs message={shown} />
            </div>
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
