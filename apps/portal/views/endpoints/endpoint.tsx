import { useState } from 'preact/hooks';
import type { Endpoint, EndpointTest } from '#client/index.js';
import { announce } from '../../components/announcer.js';
import { Button } from '../../components/button.js';
import { Choice } from '../../components/choice.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Loaded } from '../../components/loaded.js';
import { endpointName } from '../../components/messages/deliveries.js';
import { Badge, Card, Fact, Facts, Id, Page } from '../../components/parts.js';
import { Problem } from '../../components/problem.js';
import { call } from '../../session/connection.js';
import { count, formatMilliseconds, formatTime } from '../../text/format.js';
import { useAction, useOnce, useOpened, useResource } from '../../loading/hooks.js';
import { href, opener, replace } from '../../navigation/router.js';
import { showOnce } from '../../session/issued.js';
import { VERIFY_SNIPPET } from '../../text/snippets.js';
import { NOTHING_TO_REPLAY } from '../messages/works.js';
import { EndpointDeliveries } from './endpoint-deliveries.js';
import { EndpointSettingsDialog } from './endpoint-settings.js';
import { EndpointState } from './endpoints.js';
import { nameHidden } from '../../text/hidden-characters.js';

const HOUR_MS = 3_600_000;
/** For how long both secrets sign, so that receivers can change theirs. */
const GRACES = [
  { label: 'Stops at once', value: 0 },
  { label: 'Signs for another hour', value: 3_600 },
  { label: 'Signs for another day', value: 86_400 },
  { label: 'Signs for another 7 days', value: 7 * 86_400 },
];
const DEFAULT_GRACE = 86_400;

const PERIODS = [
  { label: 'The last hour', value: 1 },
  { label: 'The last day', value: 24 },
  { label: 'The last 7 days', value: 7 * 24 },
];

type Asked = 'settings' | 'rotate' | 'replay' | 'delete';

export function EndpointView({ id }: { id: string }) {
  const endpoint = useResource(() => call((client) => client.endpoints.get(id)), [id]);
  const { what: opened, open, close } = useOpened<Asked>();
  const toggle = useAction(async (enabled: boolean) => {
    await endpoint.change(() => call((client) => client.endpoints.update(id, { enabled })));
    announce(enabled ? 'The endpoint is enabled.' : 'The endpoint is disabled.');
  });
  const { data } = endpoint;
  return (
    <Page
      title="Endpoint"
      tab={data === null ? undefined : `${endpointName(data) ?? id} · endpoint`}
      back={{ label: 'Webhooks', to: href('endpoints') }}
      badge={data !== null && <EndpointState endpoint={data} />}
      lead={data === null ? undefined : <bdi class="url">{endpointName(data)}</bdi>}
      actions={
        data !== null && (
          <Button
            look={data.enabled ? 'plain' : 'primary'}
            isBusy={toggle.isRunning}
            onClick={() => void toggle.run(!data.enabled)}
          >
            {data.enabled ? 'Disable' : 'Enable'}
          </Button>
        )
      }
    >
      <Problem error={toggle.error} />
      <Loaded resource={endpoint} rows={6}>
        {(shown) => (
          <div class="columns detail">
            <div>
              <Test id={id} />
              <Card title="More">
                <div class="actions">
                  <Button
                    onClick={() => {
                      open('settings');
                    }}
                  >
                    Edit
                  </Button>
                  {shown.enabled && (
                    <Button
                      onClick={() => {
                        open('replay');
                      }}
                    >
                      Replay messages
                    </Button>
                  )}
                  <Button
                    onClick={() => {
                      open('rotate');
                    }}
                  >
                    Rotate the secret
                  </Button>
                  <Button
                    look="danger"
                    onClick={() => {
                      open('delete');
                    }}
                  >
                    Delete
                  </Button>
                </div>
              </Card>
              <EndpointDeliveries id={id} />
            </div>
            <Details endpoint={shown} />
          </div>
        )}
      </Loaded>
      {opened === 'settings' && data !== null && (
        <EndpointSettingsDialog
          endpoint={data}
          onClose={close}
          change={async (changes) => {
            await endpoint.change(() => call((client) => client.endpoints.update(id, changes)));
            close();
          }}
        />
      )}
      {opened === 'rotate' && <RotateDialog id={id} onClose={close} />}
      {opened === 'replay' && <ReplayDialog id={id} onClose={close} />}
      {opened === 'delete' && <DeleteDialog id={id} onClose={close} />}
    </Page>
  );
}

function Details({ endpoint }: { endpoint: Endpoint }) {
  const { id, url, description, types, headerNames, rateLimitPerSecond, createdAt, disabledAt } = endpoint;
  return (
    <Card title="Details">
      <Facts>
        <Fact name="URL">
          <span class="url">{url}</span>
        </Fact>
        {disabledAt !== null && <Fact name="Disabled">{formatTime(disabledAt)}</Fact>}
        {description !== '' && (
          <Fact name="Description">
            <bdi>{nameHidden(description)}</bdi>
          </Fact>
        )}
        <Fact name="Types">{types.length === 0 ? 'all' : types.join(', ')}</Fact>
        {headerNames.length > 0 && <Fact name="Headers">{headerNames.join(', ')}</Fact>}
        <Fact name="Requests">
          {rateLimitPerSecond === 0 ? 'without a limit' : `at most ${rateLimitPerSecond} per second`}
        </Fact>
        <Fact name="Id">
          <Id id={id} what="id of the endpoint" />
        </Fact>
        <Fact name="Created">{formatTime(createdAt)}</Fact>
      </Facts>
    </Card>
  );
}

const hasSucceeded = ({ status }: EndpointTest) => status !== null && status >= 200 && status < 300;

function Test({ id }: { id: string }) {
  const [result, setResult] = useState<EndpointTest | null>(null);
  const { run, isRunning, error } = useAction(async () => {
    setResult(await call((client) => client.endpoints.test(id)));
  });
  return (
    <Card
      title="Test"
      actions={
        <Button icon="send" isBusy={isRunning} onClick={() => void run()}>
          {isRunning ? 'Waiting for the answer …' : 'Send a test'}
        </Button>
      }
    >
      <Problem error={error} />
      <div aria-live="polite">
        {result === null ? (
          <p class="hint">Posts a signed test to the URL and shows what it answers.</p>
        ) : (
          <>
            <p>
              {hasSucceeded(result) ? <Badge tone="good">succeeded</Badge> : <Badge tone="bad">failed</Badge>}{' '}
              {result.status === null ? 'No answer' : `It answered with status ${result.status}`} after{' '}
              {formatMilliseconds(result.durationMs)}.{' '}
              {result.status === null && result.error !== null && nameHidden(result.error)}
            </p>
            {result.body !== '' && (
              <pre class="body" dir="auto" tabIndex={0} aria-label="The answer">
                {nameHidden(result.body)}
              </pre>
            )}
          </>
        )}
      </div>
    </Card>
  );
}

interface DialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

function RotateDialog({ id, onClose }: DialogProps) {
  const [graceSeconds, setGraceSeconds] = useState(DEFAULT_GRACE);
  const once = useOnce();
  const rotate = useAction(async () => {
    const { secret } = await once(graceSeconds, (idempotencyKey) =>
      call((client) => client.endpoints.rotateSecret(id, { graceSeconds }, { idempotencyKey })),
    );
    showOnce({ title: 'The secret is rotated', what: 'signing secret', secret, snippet: VERIFY_SNIPPET });
    onClose();
  });
  return (
    <ConfirmDialog title="Rotate the secret?" confirm="Rotate the secret" action={rotate} onClose={onClose}>
      <p>Requests are signed with the new secret at once.</p>
      <Choice label="The old secret" value={graceSeconds} choices={GRACES} onChange={setGraceSeconds} />
      {graceSeconds === 0 && (
        <p class="field-error">Receivers that do not have the new secret yet will refuse every request.</p>
      )}
    </ConfirmDialog>
  );
}

function ReplayDialog({ id, onClose }: DialogProps) {
  const [hours, setHours] = useState(1);
  const [isEmpty, setIsEmpty] = useState(false);
  const replay = useAction(async () => {
    const since = new Date(Date.now() - hours * HOUR_MS);
    const replayed = await call((client) => client.endpoints.replay(id, { since }));
    setIsEmpty(replayed.count === 0);
    if (replayed.count === 0) return;
    announce(`${count(replayed.count, 'message')} will be posted.`);
    onClose();
  });
  return (
    <ConfirmDialog title="Replay messages" confirm="Replay" action={replay} onClose={onClose}>
      <p>
        Posts the messages of a period that the endpoint has not received: those that failed, and those that only other
        endpoints received.
      </p>
      <Choice label="Period" value={hours} choices={PERIODS} onChange={setHours} />
      <p aria-live="polite">{isEmpty && NOTHING_TO_REPLAY}</p>
    </ConfirmDialog>
  );
}

function DeleteDialog({ id, onClose }: DialogProps) {
  const remove = useAction(async () => {
    const leave = opener(replace);
    await call((client) => client.endpoints.delete(id));
    announce('The endpoint is deleted.');
    leave(href('endpoints'));
  });
  return (
    <ConfirmDialog
      {...{ title: 'Delete the endpoint?', confirm: 'Delete the endpoint', look: 'danger' }}
      action={remove}
      onClose={onClose}
    >
      <p>What still waits for it is not posted any more. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
