import { Button } from '../components/button.js';
import { CreateKeyDialog } from '../components/keys/create-key.js';
import { showOnce } from '../session/issued.js';
import { SCOPES } from '../components/keys/key-row.js';
import { call } from '../session/connection.js';
import { useOpened } from '../loading/hooks.js';

const HINT = 'Give it to the owner of the account, by a way that nobody else reads.';

interface CreateKeyProps {
  readonly accountId: string;
  readonly onCreated: () => void;
}

/** Makes a key for an account, such as one that has lost its keys, and shows it this once. */
export function CreateKeyButton({ accountId, onCreated }: CreateKeyProps) {
  const { what: isOpen, open, close } = useOpened<true>();
  return (
    <>
      <Button
        onClick={() => {
          open(true);
        }}
      >
        Create a key
      </Button>
      {isOpen && (
        <CreateKeyDialog
          offered={SCOPES}
          create={(input, options) => call((client) => client.admin.accounts.createKey(accountId, input, options))}
          onCreated={(key) => {
            close();
            showOnce({ title: 'The key is created', what: 'API key', secret: key.key, hint: HINT });
            onCreated();
          }}
          onClose={close}
        />
      )}
    </>
  );
}
