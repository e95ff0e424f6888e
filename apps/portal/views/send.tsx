import { useEffect, useRef, useState } from 'preact/hooks';
import { ConnectionError, type AcceptedMessage, type Message } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Snippets } from '../components/code.js';
import { Field } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Card, Page, Status } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { byteLength, formatMilliseconds, formatNumber, formatTime } from '../format.js';
import { useAction } from '../hooks.js';
import { liveState, onMessageEvent } from '../live.js';
import { href } from '../router.js';
import { apiKey, call, can, pause } from '../session.js';

const MAX_BYTES = 262_144;
const MAX_DELAY_DAYS = 30;

/** A message that was sent here, with what has happened to it. */
interface Sent {
  readonly message: AcceptedMessage | Message;
  /** When each status was seen, by the clock of the server. */
  readonly steps: readonly { readonly status: Message['status']; readonly at: string }[];
}

export function SendView() {
  const [text, setText] = useState('Hello, Sluice');
  const [deliverAt, setDeliverAt] = useState('');
  const [sent, setSent] = useState<readonly Sent[]>([]);
  const unknown = useRef<string | undefined>(undefined);
  const bytes = byteLength(text);

  useEffect(
    () =>
      onMessageEvent(({ message }) => {
        setSent((all) => all.map((one) => (one.message.id === message.id ? advanced(one, message) : one)));
        if (message.status === 'delivered') announce('The message is delivered.');
      }),
    [],
  );

  const { run, isRunning, error } = useAction(async () => {
    // A repetition after an unknown outcome has the same key, so that it creates no second message.
    unknown.current ??= Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('');
    const options = {
      idempotencyKey: unknown.current,
      ...(deliverAt !== '' && { deliverAt: new Date(deliverAt) }),
    };
    const message = await call((client) => client.messages.send(text, options));
    unknown.current = undefined;
    announce('The message is stored and queued.');
    setSent((all) => [{ message, steps: [{ status: message.status, at: message.createdAt }] }, ...all].slice(0, 5));
  });

  return (
    <Page title="Send" lead="A 202 means that the message is stored and queued, and will be delivered.">
      <div class="columns">
        <div>
          <Card title="Compose">
            <form
              onSubmit={(event) => {
                event.preventDefault();
                void run();
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
                    value={text}
                    onInput={({ currentTarget }) => {
                      unknown.current = undefined;
                      setText(currentTarget.value);
                    }}
                    onKeyDown={(event) => {
                      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void run();
                    }}
                  />
                )}
              </Field>
              <Field
                label="Deliver at (optional)"
                hint="Now, if empty. Up to 30 days ahead."
                error={fieldError(error, '/deliverAt')}
              >
                {(tied) => (
                  <input
                    {...tied}
                    type="datetime-local"
                    min={localTime(Date.now())}
                    max={localTime(Date.now() + MAX_DELAY_DAYS * 86_400_000)}
                    value={deliverAt}
                    onInput={({ currentTarget }) => {
                      unknown.current = undefined;
                      setDeliverAt(currentTarget.value);
                    }}
                  />
                )}
              </Field>
              <Problem error={error} fields={['/message', '/deliverAt']} />
              {error instanceof ConnectionError && (
                <p class="hint">The message may be stored. Send it again: that creates no second one.</p>
              )}
              <div class="actions">
                <Button
                  type="submit"
                  look="primary"
                  icon="send"
                  isBusy={isRunning}
                  isDisabled={pause.value !== null || bytes > MAX_BYTES || bytes === 0}
                >
                  {isRunning ? 'Sending …' : deliverAt === '' ? 'Send the message' : 'Schedule the message'}
                </Button>
                <span class="hint shortcut">Ctrl or ⌘ and Enter</span>
              </div>
            </form>
          </Card>
          <Card title="Sent from here">
            {sent.length === 0 ? (
              <p class="hint">Send a message, and watch here what happens to it.</p>
            ) : (
              <ol class="sent">
                {sent.map((one) => (
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
  const isScheduled = 'deliverAt' in message && message.deliverAt !== null && message.status === 'queued';
  return (
    <li>
      <p class="sent-text">
        <bdi class="preview">{message.message.slice(0, 200)}</bdi>
        {can('messages:read') && (
          <a href={href(`messages/${message.id}`)}>
            Open <Icon name="next" />
          </a>
        )}
      </p>
      <ol class="steps">
        {steps.map(({ status, at }, index) => (
          <li key={`${status}${index}`}>
            <Status status={status} />
            <span class="hint">
              {index === 0 ? 'stored' : `after ${formatMilliseconds(new Date(at).getTime() - start)}`}
            </span>
          </li>
        ))}
        {isScheduled && message.deliverAt !== null && <li class="hint">due {formatTime(message.deliverAt)}</li>}
        {liveState.value !== 'live' && <li class="hint">no live updates</li>}
      </ol>
    </li>
  );
}

function advanced({ message, steps }: Sent, next: Message): Sent {
  const isKnown = next.status === message.status && steps.length === 1 && next.status === 'queued';
  return { message: next, steps: isKnown ? steps : [...steps, { status: next.status, at: next.updatedAt }] };
}

/** A time as the control for times takes it, in the visitor's zone. */
function localTime(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offset).toISOString().slice(0, 16);
}
