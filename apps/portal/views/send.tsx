import type { DeliveryMode } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Snippets } from '../components/messages/code.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Icon } from '../components/icon.js';
import { fieldsLine, MESSAGE_FIELDS, MessageFields, metadataProblem } from '../components/messages/message-fields.js';
import { DeliveryWarning } from '../components/settings/delivery-warning.js';
import { Card, Page, Status } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { apiKey, call, pause } from '../session/connection.js';
import { addSent, advanceSent, deliverAt, fieldsOfDraft, sent, text, type Sent } from '../draft.js';
import { byteLength, formatMilliseconds, formatNumber, formatTime, previewOf } from '../text/format.js';
import { useAction } from '../loading/hooks.js';
import { liveState, useMessageEvents } from '../loading/live.js';
import { chosenTime, localTime } from '../text/local-time.js';
import { mayBeDone, once } from '../loading/once.js';
import { href } from '../navigation/router.js';
import { account } from '../session/account.js';
import { can } from '../session/session.js';

const MAX_BYTES = 262_144;
const MAX_DELAY_DAYS = 30;

/** What a 202 means, by the way of delivery. */
const LEADS: Readonly<Record<DeliveryMode, string>> = {
  handler: 'A 202 means that the message is stored and queued, and will be delivered.',
  webhooks: 'A 202 means that the message is stored. It is posted to the endpoints that are enabled then.',
  pull: 'A 202 means that the message is stored. It waits until a program leases it.',
};

export function SendView() {
  const bytes = byteLength(text.value);
  const time = deliverAt.value === '' ? null : chosenTime(deliverAt.value);
  const isInvalid = time?.problem !== undefined || metadataProblem() !== undefined || bytes > MAX_BYTES || bytes === 0;
  const isDisabled = pause.value !== null || isInvalid;
  const content = { message: text.value, deliverAt: time?.at, ...fieldsOfDraft() };

  useMessageEvents((message) => {
    if (advanceSent(message) && message.status === 'delivered') announce('The message is delivered.');
  }, []);

  const { run, isRunning, error } = useAction(async () => {
    const message = await once(content, (idempotencyKey) =>
      call((client) => client.messages.send(content, { idempotencyKey })),
    );
    announce('The message is stored.');
    addSent(message);
  });

  return (
    <Page title="Send" lead={LEADS[account.value?.delivery ?? 'handler']}>
      <DeliveryWarning mode={account.value?.delivery} />
      <div class="columns">
        <div>
          <Card title="Compose">
            <Form
              onSubmit={() => {
                if (!isDisabled) void run();
              }}
            >
              <Field
                label="Message"
                hint={`${formatNumber(bytes)} of ${formatNumber(MAX_BYTES)} bytes`}
                error={bytes > MAX_BYTES ? 'The message is too long.' : fieldError(error, '/message')}
              >
                {(tied) => (
                  <textarea
                    {...tied}
                    dir="auto"
                    rows={5}
                    required
                    value={text.value}
                    onInput={({ currentTarget }) => {
                      text.value = currentTarget.value;
                    }}
                    onKeyDown={(event) => {
                      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && !event.repeat) {
                        event.currentTarget.form?.requestSubmit();
                      }
                    }}
                  />
                )}
              </Field>
              <Field
                label="Deliver at (optional)"
                hint={time?.note ?? 'Now, if empty. Up to 30 days ahead.'}
                error={time?.problem ?? fieldError(error, '/deliverAt')}
              >
                {(tied) => (
                  <input
                    {...tied}
                    type="datetime-local"
                    min={localTime(Date.now())}
                    max={localTime(Date.now() + MAX_DELAY_DAYS * 86_400_000)}
                    value={deliverAt.value}
                    onInput={({ currentTarget }) => {
                      deliverAt.value = currentTarget.value;
                    }}
                  />
                )}
              </Field>
              <MessageFields error={error} />
              <Problem error={error} fields={['/message', '/deliverAt', ...MESSAGE_FIELDS]} />
              {!isRunning && mayBeDone(content) && (
                <p class="hint">The message may be stored. Send it again: that creates no second one.</p>
              )}
              <div class="actions">
                <Button type="submit" look="primary" icon="send" isBusy={isRunning} isDisabled={isDisabled}>
                  {isRunning ? 'Sending …' : deliverAt.value === '' ? 'Send the message' : 'Schedule the message'}
                </Button>
                <span class="hint shortcut">Ctrl or ⌘ and Enter</span>
              </div>
            </Form>
          </Card>
          <Card title="Sent from here">
            {sent.value.length === 0 ? (
              <p class="hint">Send a message, and watch here what happens to it.</p>
            ) : (
              <ol class="sent">
                {sent.value.map((one) => (
                  <SentMessage key={one.message.id} sent={one} />
                ))}
              </ol>
            )}
          </Card>
        </div>
        <Card title="From your code">
          <Snippets apiKey={apiKey.value} />
        </Card>
      </div>
    </Page>
  );
}

function SentMessage({ sent: { message, steps } }: { sent: Sent }) {
  const start = new Date(message.createdAt).getTime();
  const due = message.status === 'queued' ? message.deliverAt : undefined;
  const fields = fieldsLine(message);
  // Nothing was tried, and how long that took says nothing.
  const isWithoutEndpoint = 'failureReason' in message && message.failureReason === 'no_endpoint';
  return (
    <li>
      <p class="sent-text">
        <bdi class="preview">{previewOf(message.message)}</bdi>
        {can('messages:read') && (
          <a href={href(`messages/${message.id}`)}>
            Open <Icon name="next" />
          </a>
        )}
      </p>
      {fields !== '' && <bdi class="sub fields">{fields}</bdi>}
      <ol class="steps">
        {steps.map(({ status, at }, index) => (
          <li key={`${status}${index}`}>
            <Status status={status} />
            <span class="hint">
              {index === 0 && 'stored'}
              {index > 0 && !isWithoutEndpoint && `after ${formatMilliseconds(new Date(at).getTime() - start)}`}
            </span>
          </li>
        ))}
        {isWithoutEndpoint && (
          <li class="hint">
            no endpoint was enabled when it was accepted: <a href={href('endpoints')}>add or enable one</a>, then retry
          </li>
        )}
        {due !== undefined && <li class="hint">due {formatTime(due)}</li>}
        {liveState.value !== 'live' && <li class="hint">no live updates</li>}
      </ol>
    </li>
  );
}
