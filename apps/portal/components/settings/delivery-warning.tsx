import { SluiceError, type DeliveryMode } from '#client/index.js';
import { apiKey, BASE_URL } from '../../session/connection.js';
import { loadEndpoints } from '../../loading/endpoints.js';
import { useResource } from '../../loading/hooks.js';
import { href } from '../../navigation/router.js';
import { can } from '../../session/session.js';
import { endpointSnippet, leaseSnippet } from '../../text/snippets.js';
import { Icon } from '../icon.js';
import { Command } from '../messages/command.js';

type Missing = 'nothing' | 'endpoint' | 'service';

/** What has to be there so that a way of delivery works: said before it is chosen, and for as long as it is missing. */
export function DeliveryWarning({ mode }: { mode: DeliveryMode | undefined }) {
  if (mode === 'pull') return <PullHint />;
  return mode === 'webhooks' ? <WebhooksWarning /> : null;
}

function WebhooksWarning() {
  const { data } = useResource(whatIsMissing, []);
  if (data === null || data === 'nothing') return null;
  const isOfService = data === 'service';
  return (
    <div class="stack">
      <p class="warning">
        <Icon name="warning" />
        <span>
          {isOfService ? (
            <>
              Webhooks are not enabled here: messages fail until the operator has set <code>SECRETS_KEY</code> and you
              have added an endpoint.
            </>
          ) : (
            <>
              No endpoint is enabled: messages fail until you <a href={href('endpoints')}>add or enable one</a>.
            </>
          )}
        </span>
      </p>
      {isOfService ? (
        <Command label="A command that makes a SECRETS_KEY" text={() => 'openssl rand -hex 32'}>
          <p class="hint">The operator makes one with:</p>
        </Command>
      ) : (
        <Command
          label="A command that adds an endpoint"
          text={(key) => endpointSnippet(BASE_URL, key)}
          apiKey={apiKey.value}
        >
          <p class="hint">From a terminal, with your URL:</p>
        </Command>
      )}
    </div>
  );
}

async function whatIsMissing(): Promise<Missing> {
  try {
    return (await loadEndpoints()).some(({ enabled }) => enabled) ? 'nothing' : 'endpoint';
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'webhooks_disabled') return 'service';
    throw error;
  }
}

function PullHint() {
  return (
    <Command
      label="A command that leases messages"
      text={(key) => leaseSnippet(BASE_URL, key)}
      apiKey={can('messages:consume') ? apiKey.value : null}
    >
      <p class="hint">
        Messages wait until a program leases them, with a key that has <code>messages:consume</code>, such as:
      </p>
    </Command>
  );
}
