import { SluiceError, type DeliveryMode } from '#client/index.js';
import { BASE_URL, call } from '../../connection.js';
import { useResource } from '../../hooks.js';
import { href } from '../../router.js';
import { leaseSnippet } from '../../snippets.js';
import { CopyButton } from '../button.js';
import { Icon } from '../icon.js';

/** All that an account can have. */
const ENDPOINTS = 50;

type Missing = 'nothing' | 'endpoint' | 'service';

/** What has to be there so that a way of delivery works: said before it is chosen, and for as long as it is missing. */
export function DeliveryWarning({ mode }: { mode: DeliveryMode | undefined }) {
  if (mode === 'pull') return <PullHint />;
  return mode === 'webhooks' ? <WebhooksWarning /> : null;
}

function WebhooksWarning() {
  const { data } = useResource(whatIsMissing, []);
  if (data === null || data === 'nothing') return null;
  return (
    <p class="warning">
      <Icon name="warning" />
      <span>
        {data === 'service' ? (
          <>
            Webhooks are not enabled here: messages fail with <code>no_endpoint</code> until the operator has set{' '}
            <code>SECRETS_KEY</code> and you have added an endpoint.
          </>
        ) : (
          <>
            No endpoint is enabled: messages fail with <code>no_endpoint</code> until you{' '}
            <a href={href('endpoints')}>add or enable one</a>.
          </>
        )}
      </span>
    </p>
  );
}

async function whatIsMissing(): Promise<Missing> {
  try {
    const { data } = await call((client) => client.endpoints.list({ limit: ENDPOINTS }).page());
    return data.some(({ enabled }) => enabled) ? 'nothing' : 'endpoint';
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'webhooks_disabled') return 'service';
    throw error;
  }
}

function PullHint() {
  const command = leaseSnippet(BASE_URL);
  return (
    <div class="stack">
      <div class="command-header">
        <p class="hint">
          Messages wait until a program leases them, with a key that has <code>messages:consume</code>, such as:
        </p>
        <CopyButton text={command} what="command" />
      </div>
      <pre class="body command" tabIndex={0} aria-label="A command that leases messages">
        {command}
      </pre>
    </div>
  );
}
