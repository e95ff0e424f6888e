import { useState } from 'preact/hooks';
import type { NewApiKey } from '#client/index.js';
import { Button } from '../components/button.js';
import { Dialog } from '../components/dialog.js';
import { CreateKeyDialog } from '../components/keys/create-key.js';
import { SCOPES } from '../components/keys/key-row.js';
import { Secret } from '../components/keys/secret-value.js';
import { call } from '../connection.js';
import { useUnloadWarning } from '../hooks.js';

interface CreateKeyProps {
  readonly accountId: string;
  readonly onCreated: () => void;
}

/** Makes a key for an account, such as one that has lost its keys, and shows it this once. */
export function CreateKeyButton({ accountId, onCreated }: CreateKeyProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [created, setCreated] = useState<NewApiKey | null>(null);
  useUnloadWarning(created !== null);
  const close = () => {
    setIsOpen(false);
  };
  return (
    <>
      <Button
        onClick={() => {
          setIsOpen(true);
        }}
      >
        Create a key
      </Button>
      {isOpen && (
        <CreateKeyDialog
          offered={SCOPES}
          create={(input) => call((client) => client.admin.accounts.createKey(accountId, input))}
          onCreated={(key) => {
            close();
            setCreated(key);
            onCreated();
          }}
          onClose={close}
        />
      )}
      {created !== null && (
        <Dialog title="The key is created">
          <Secret
            secret={created.key}
            what="API key"
            onStored={() => {
              setCreated(null);
            }}
          >
            <p class="hint">Give it to the owner of the account, by a way that nobody else reads.</p>
          </Secret>
        </Dialog>
      )}
    </>
  );
}
