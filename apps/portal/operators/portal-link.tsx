import { useState } from 'preact/hooks';
import type { PortalLink, Scope } from '#client/index.js';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { Dialog } from '../components/dialog.js';
import { Form } from '../components/form.js';
import { showOnce } from '../session/issued.js';
import { ScopesField } from '../components/keys/scopes-field.js';
import { Problem } from '../components/problem.js';
import { call } from '../session/connection.js';
import { formatTime } from '../text/format.js';
import { useAction, useOnce, useOpened } from '../loading/hooks.js';

/** The portal has no page for `messages:consume`. */
const OFFERED: readonly Scope[] = ['messages:read', 'messages:send', 'account:manage'];

const LIFETIMES = [
  { label: 'After 15 minutes', value: 900 },
  { label: 'After an hour', value: 3_600 },
  { label: 'After 8 hours', value: 28_800 },
  { label: 'After a day', value: 86_400 },
];

interface PortalLinkProps {
  readonly accountId: string;
  readonly onCreated: () => void;
}

/** Makes a link that opens the portal of an account, and shows it this once. */
export function PortalLinkButton({ accountId, onCreated }: PortalLinkProps) {
  const { what: isOpen, open, close } = useOpened<true>();
  return (
    <>
      <Button
        onClick={() => {
          open(true);
        }}
      >
        Create a portal link
      </Button>
      {isOpen && (
        <LinkDialog
          accountId={accountId}
          onCreated={(created) => {
            close();
            showOnce({
              title: 'The link is created',
              what: 'portal link',
              secret: created.url,
              hint: hintOf(created),
            });
            onCreated();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

function hintOf({ url, expiresAt }: PortalLink) {
  return (
    <>
      <p>
        It can be opened once, by whoever has it, until {formatTime(expiresAt)}, when the visitor is signed out. To end
        it earlier, revoke the key “Portal link” of the account.
      </p>
      <p>
        If customers do not reach Sluice at <code>{new URL(url).origin}</code>, set <code>PUBLIC_URL</code> and create
        another link.
      </p>
    </>
  );
}

interface LinkDialogProps {
  readonly accountId: string;
  readonly onCreated: (link: PortalLink) => void;
  readonly onClose: () => void;
}

function LinkDialog({ accountId, onCreated, onClose }: LinkDialogProps) {
  const [scopes, setScopes] = useState<readonly Scope[]>(['messages:read']);
  const [expiresInSeconds, setExpiresInSeconds] = useState(3_600);
  const once = useOnce();
  const { run, isRunning, error } = useAction(async () => {
    const input = { scopes: [...scopes], expiresInSeconds };
    const created = await once(input, (idempotencyKey) =>
      call((client) => client.admin.accounts.createPortalLink(accountId, input, { idempotencyKey })),
    );
    onCreated(created);
  });
  return (
    <Dialog title="Create a portal link" onClose={onClose}>
      <Form onSubmit={() => void run()}>
        <p>It opens the portal of this account once, for a customer who has no API key.</p>
        <ScopesField
          hint={
            <>
              Whoever has <code>account:manage</code> can create keys that last longer than the link.
            </>
          }
          {...{ offered: OFFERED, value: scopes, onChange: setScopes }}
        />
        <Choice
          label="Expires"
          hint="The link, and the session of whoever has opened it."
          value={expiresInSeconds}
          choices={LIFETIMES}
          onChange={setExpiresInSeconds}
        />
        <Problem error={error} />
        <footer class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={isRunning} isDisabled={scopes.length === 0}>
            Create the link
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
