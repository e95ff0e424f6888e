import type { ApiKey, Ban, List } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { ConfirmDialog } from '../components/confirm-dialog.js';
import { KeyRow } from '../components/keys/key-row.js';
import { Badge, Skeleton } from '../components/parts.js';
import { Problem } from '../components/problem.js';
import { call } from '../session/connection.js';
import { formatMoment } from '../text/format.js';
import { useAction, useList, useOpened, useResource } from '../loading/hooks.js';
import { CreateKeyButton } from './create-key.js';
import { LiftButton } from './bans.js';
import { More } from './more.js';
import { PortalLinkButton } from './portal-link.js';
import { nameHidden } from '../text/hidden-characters.js';

/** The keys of an account, with their bans. */
export function Keys({ accountId }: { accountId: string }) {
  const keys = useList(
    (cursor) => call((client) => client.admin.accounts.keys(accountId, { cursor }).page()),
    [accountId],
  );
  const bans = useResource(() => call((client) => allOf(client.admin.bans.list({ accountId }))), [accountId]);
  const { what: revoking, open: revoke, close } = useOpened<ApiKey>();
  const { data, error, isLoading, reload } = keys;
  const forgetBan = (keyId: string) => {
    bans.set((all) => all.filter((ban) => ban.keyId !== keyId));
  };
  return (
    <section class="stack" aria-label="API keys">
      <header class="card-header">
        <h2>API keys</h2>
        <div class="actions">
          <CreateKeyButton accountId={accountId} onCreated={reload} />
          <PortalLinkButton accountId={accountId} onCreated={reload} />
        </div>
      </header>
      <Problem error={error ?? bans.error} onRetry={error === null ? bans.reload : reload} />
      {data === null ? (
        isLoading && <Skeleton rows={2} />
      ) : data.data.length === 0 && data.nextCursor === null ? (
        <p class="hint">The account has no key that is not revoked.</p>
      ) : (
        <ul class="rows">
          {data.data.map((key) => {
            const ban = bans.data?.find(({ keyId }) => keyId === key.id);
            return (
              <KeyRow key={key.id} apiKey={key} badge={ban !== undefined && <BanBadge ban={ban} />}>
                {ban !== undefined && <LiftButton keyId={key.id} onLifted={forgetBan} />}
                <Button
                  look="danger"
                  label={`Revoke ${nameHidden(key.name)}`}
                  onClick={() => {
                    revoke(key);
                  }}
                >
                  Revoke
                </Button>
              </KeyRow>
            );
          })}
        </ul>
      )}
      <More list={keys} />
      {revoking !== null && (
        <RevokeDialog
          accountId={accountId}
          apiKey={revoking}
          onRevoked={() => {
            keys.set((page) => ({ ...page, data: page.data.filter(({ id }) => id !== revoking.id) }));
          }}
          onClose={close}
        />
      )}
    </section>
  );
}

export async function allOf<Item>(list: List<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

function BanBadge({ ban: { bannedUntil, reason } }: { ban: Ban }) {
  return (
    <Badge tone="bad">
      <span title={nameHidden(reason)}>banned until {formatMoment(bannedUntil)}</span>
    </Badge>
  );
}

interface RevokeDialogProps {
  readonly accountId: string;
  readonly apiKey: ApiKey;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeDialog({ accountId, apiKey: { id, name }, onRevoked, onClose }: RevokeDialogProps) {
  const revoke = useAction(async () => {
    await call((client) => client.admin.accounts.revokeKey(accountId, id));
    announce(`The key ${nameHidden(name)} is revoked.`);
    onClose();
    onRevoked();
  });
  return (
    <ConfirmDialog
      {...{ title: `Revoke “${nameHidden(name)}”?`, confirm: 'Revoke the key', look: 'danger' }}
      action={revoke}
      onClose={onClose}
    >
      <p>Every request with this key gets 401 from now on. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
