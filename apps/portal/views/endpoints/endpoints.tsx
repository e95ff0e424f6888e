import { useState } from 'preact/hooks';
import { SluiceError, type Endpoint } from '#client/index.js';
import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import {
  DescriptionField,
  ENDPOINT_POINTERS,
  HeadersField,
  headersOf,
  TypesField,
  UrlField,
} from './endpoint-fields.js';
import { Form } from '../../components/form.js';
import { Icon } from '../../components/icon.js';
import { Badge, Empty, Page, Skeleton, Time } from '../../components/parts.js';
import { Problem } from '../../components/problem.js';
import { call } from '../../session/connection.js';
import { loadEndpoints } from '../../loading/endpoints.js';
import { useAction, useOnce, useOpened, useResource } from '../../loading/hooks.js';
import { href } from '../../navigation/router.js';
import { showOnce } from '../../session/issued.js';
import { account, withAccount } from '../../session/account.js';
import { VERIFY_SNIPPET } from '../../text/snippets.js';
import { nameHidden } from '../../text/hidden-characters.js';

export function EndpointsView() {
  const endpoints = useResource(() => withAccount(loadEndpoints), []);
  const creating = useOpened<true>();
  const isDisabled = endpoints.error instanceof SluiceError && endpoints.error.code === 'webhooks_disabled';
  const create = (
    <Button
      look="primary"
      icon="plus"
      onClick={() => {
        creating.open(true);
      }}
    >
      Add an endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead="Endpoints are URLs of yours that messages are posted to."
      actions={endpoints.data !== null && endpoints.data.length > 0 && create}
    >
      {account.value !== null && account.value.delivery !== 'webhooks' && (
        <p class="notice">
          <Icon name="info" />
          <span>
            Nothing is posted to endpoints: <a href={href('settings')}>choose webhooks</a> as the way of delivery.
          </span>
        </p>
      )}
      {isDisabled ? (
        <Empty title="Webhooks are not enabled here">
          <p>The operator of this service has to set SECRETS_KEY first.</p>
        </Empty>
      ) : (
        <Problem error={endpoints.error} onRetry={endpoints.reload} />
      )}
      {endpoints.data === null ? (
        endpoints.isLoading && <Skeleton rows={3} />
      ) : endpoints.data.length === 0 ? (
        <Empty title="Add your first endpoint">
          <p>Give a URL that answers POST requests. You get a secret to verify their signatures with.</p>
          {create}
        </Empty>
      ) : (
        <ul class="rows">
          {endpoints.data.map((endpoint) => (
            <li key={endpoint.id} class="row">
              <a class="row-main row-link" href={href(`endpoints/${endpoint.id}`)}>
                <span class="url" title={endpoint.url}>
                  {endpoint.url}
                </span>
                <span class="hint">{endpoint.description === '' ? endpoint.id : nameHidden(endpoint.description)}</span>
                {endpoint.types.length > 0 && <span class="hint">{endpoint.types.join(', ')}</span>}
              </a>
              <EndpointState endpoint={endpoint} />
              <Icon name="next" />
            </li>
          ))}
        </ul>
      )}
      {creating.what && (
        <CreateDialog
          onClose={creating.close}
          onCreated={() => {
            creating.close();
            endpoints.reload();
          }}
        />
      )}
    </Page>
  );
}

const DISABLED_TEXTS: Readonly<Record<NonNullable<Endpoint['disabledReason']>, string>> = {
  by_account: 'disabled',
  gone: 'disabled: it answered 410',
  failing: 'disabled: it failed for days',
};

export function EndpointState({ endpoint: { disabledReason, failingSince } }: { endpoint: Endpoint }) {
  if (disabledReason !== null) {
    return <Badge tone={disabledReason === 'by_account' ? 'quiet' : 'bad'}>{DISABLED_TEXTS[disabledReason]}</Badge>;
  }
  if (failingSince === null) return <Badge tone="good">enabled</Badge>;
  return (
    <Badge tone="warn">
      failing since <Time at={failingSince} />
    </Badge>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [types, setTypes] = useState<readonly string[]>([]);
  const [lines, setLines] = useState('');
  const once = useOnce();
  const { run, isRunning, error } = useAction(async () => {
    const input = { url, description, types: [...types], headers: headersOf(lines) };
    const { secret } = await once(input, (idempotencyKey) =>
      call((client) => client.endpoints.create(input, { idempotencyKey })),
    );
    const hint =
      account.value?.delivery === 'webhooks'
        ? undefined
        : 'Choose webhooks as the way of delivery in the settings, so that messages are posted to it.';
    showOnce({ title: 'The endpoint is added', what: 'signing secret', secret, hint, snippet: VERIFY_SNIPPET });
    onCreated();
  });
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <Form onSubmit={() => void run()}>
        <UrlField value={url} onChange={setUrl} error={error} hint="Its host must be public." />
        <DescriptionField value={description} onChange={setDescription} error={error} />
        <TypesField value={types} onChange={setTypes} error={error} />
        <HeadersField
          value={lines}
          onChange={setLines}
          error={error}
          hint="One “Name: value” in a line. Values are stored encrypted and never shown again."
        />
        <Problem error={error} fields={['/url', '/description', ...ENDPOINT_POINTERS, '/types/0']} />
        <footer class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={isRunning}>
            Add the endpoint
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
