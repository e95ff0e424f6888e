import { useState } from 'preact/hooks';
import type { ApiKey } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { ConfirmDialog } from '../components/confirm-dialog.js';
import { CreateKeyDialog } from '../components/keys/create-key.js';
import { KeyRow, SCOPES } from '../components/keys/key-row.js';
import { Loaded } from '../components/loaded.js';
import { Badge, Empty, Page } from '../components/parts.js';
import { call } from '../session/connection.js';
import { formatTime } from '../text/format.js';
import { useAction, useOnce, useOpened, useResource } from '../loading/hooks.js';
import { href, route } from '../navigation/router.js';
import { showOnce } from '../session/issued.js';
import { can, ownKeyId, rotateKey, signOut } from '../session/session.js';
import { nameHidden } from '../text/hidden-characters.js';

const GRACES = [
  { label: 'At once', value: 0 },
  { label: 'In an hour', value: 3_600 },
  { label: 'In a day', value: 86_400 },
  { label: 'In 7 days', value: 7 * 86_400 },
];

type Asked = { readonly kind: 'create' } | { readonly kind: 'rotate' | 'revoke'; readonly key: ApiKey };

export function KeysView() {
  const cursor = route.value.query.get('cursor') ?? undefined;
  const keys = useResource(() => call((client) => client.account.keys.list({ cursor }).page()), [cursor]);
  const { what: opened, open, close } = useOpened<Asked>();
  const closeAndReload = () => {
    close();
    keys.reload();
  };
  return (
    <Page
      title="API keys"
      lead="All keys share the limits of the account. Give each program a key of its own, with only the scopes it needs."
      actions={
        <Button
          look="primary"
          icon="plus"
          onClick={() => {
            open({ kind: 'create' });
          }}
        >
          Create a key
        </Button>
      }
    >
      <Loaded resource={keys} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No more keys">
              <p>
                <a href={href('keys')}>Show the newest</a>
              </p>
            </Empty>
          ) : (
            <ul class="rows">
              {data.map((key) => (
                <OwnKeyRow key={key.id} apiKey={key} onOpen={open} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {keys.data !== null && (cursor !== undefined || keys.data.nextCursor !== null) && (
        <nav class="pager" aria-label="Pages">
          {cursor !== undefined && (
            <a class="button plain" href={href('keys')}>
              Newest
            </a>
          )}
          {keys.data.nextCursor !== null && (
            <a class="button plain" href={href('keys', { cursor: keys.data.nextCursor })}>
              Older
            </a>
          )}
        </nav>
      )}
      {opened?.kind === 'create' && (
        <CreateKeyDialog
          offered={SCOPES.filter(can)}
          create={(input, options) => call((client) => client.account.keys.create(input, options))}
          onCreated={({ key }) => {
            showOnce({ title: 'The key is created', what: 'API key', secret: key });
            closeAndReload();
          }}
          onClose={close}
        />
      )}
      {opened?.kind === 'rotate' && <RotateDialog apiKey={opened.key} onClose={close} onRotated={closeAndReload} />}
      {opened?.kind === 'revoke' && <RevokeDialog apiKey={opened.key} onClose={close} onRevoked={closeAndReload} />}
    </Page>
  );
}

function OwnKeyRow({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: (asked: Asked) => void }) {
  const { id, name, scopes } = apiKey;
  // A key can only rotate keys whose scopes it has itself.
  const canRotate = scopes.every(can);
  return (
    <KeyRow apiKey={apiKey} badge={id === ownKeyId.value && <Badge tone="info">this key</Badge>}>
      {canRotate && (
        <Button
          icon="refresh"
          label={`Rotate ${nameHidden(name)}`}
          onClick={() => {
            onOpen({ kind: 'rotate', key: apiKey });
          }}
        >
          Rotate
        </Button>
      )}
      <Button
        look="danger"
        label={`Revoke ${nameHidden(name)}`}
        onClick={() => {
          onOpen({ kind: 'revoke', key: apiKey });
        }}
      >
        Revoke
      </Button>
    </KeyRow>
  );
}

function RotateDialog({ apiKey, onClose, onRotated }: { apiKey: ApiKey; onClose: () => void; onRotated: () => void }) {
  const isOwn = apiKey.id === ownKeyId.value;
  const [graceSeconds, setGraceSeconds] = useState(3_600);
  const once = useOnce();
  const rotate = useAction(async () => {
    const rotated = await once(graceSeconds, (idempotencyKey) =>
      rotateKey(apiKey.id, graceSeconds, { idempotencyKey }),
    );
    const end = Math.min(Date.now() + graceSeconds * 1_000, Date.parse(apiKey.expiresAt ?? '') || Infinity);
    const hint = graceSeconds > 0 ? `The old key works until ${formatTime(end)}.` : undefined;
    showOnce({ title: 'The key is rotated', what: 'API key', secret: rotated.key, hint });
    onRotated();
  });
  return (
    <ConfirmDialog
      title={`Rotate “${nameHidden(apiKey.name)}”`}
      confirm="Rotate the key"
      action={rotate}
      onClose={onClose}
    >
      <p>You get a new key with the same name, scopes and expiry. The old one stops working later, or at once.</p>
      <Choice
        label="The old key stops working"
        hint={isOwn ? 'You are signed in with it, and go on with the new one.' : undefined}
        value={graceSeconds}
        choices={GRACES}
        onChange={setGraceSeconds}
      />
    </ConfirmDialog>
  );
}

function RevokeDialog({ apiKey, onClose, onRevoked }: { apiKey: ApiKey; onClose: () => void; onRevoked: () => void }) {
  const isOwn = apiKey.id === ownKeyId.value;
  const revoke = useAction(async () => {
    await call((client) => client.account.keys.revoke(apiKey.id));
    if (apiKey.id === ownKeyId.value) {
      signOut('You have revoked the key that you were signed in with.');
      return;
    }
    announce(`The key ${nameHidden(apiKey.name)} is revoked.`);
    onRevoked();
  });
  return (
    <ConfirmDialog
      {...{ title: `Revoke “${nameHidden(apiKey.name)}”?`, confirm: 'Revoke the key', look: 'danger' }}
      action={revoke}
      onClose={onClose}
    >
      <p>
        Every request with this key gets 401 from now on. This cannot be undone.
        {isOwn && ' You are signed in with it, and will be signed out.'}
      </p>
    </ConfirmDialog>
  );
}
