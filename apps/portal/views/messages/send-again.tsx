import type { Message } from '#client/index.js';
import { announce } from '../../components/announcer.js';
import { Button, CopyButton } from '../../components/button.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Card } from '../../components/parts.js';
import { BASE_URL, call } from '../../session/connection.js';
import { useAction, useOpened } from '../../loading/hooks.js';
import { once } from '../../loading/once.js';
import { href, opener } from '../../navigation/router.js';
import { contentOf, programFor, PROGRAMS } from './again.js';

export function SendAgain({ message }: { message: Message }) {
  const { what: isAsking, open, close } = useOpened<true>();
  return (
    <>
      <Button
        icon="send"
        onClick={() => {
          open(true);
        }}
      >
        Send again
      </Button>
      {isAsking && <SendAgainDialog message={message} onClose={close} />}
    </>
  );
}

function SendAgainDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  const send = useAction(async () => {
    const openNew = opener();
    const content = contentOf(message);
    const { id } = await once([message.id, content], (idempotencyKey) =>
      call((client) => client.messages.send(content, { idempotencyKey })),
    );
    announce('The message is sent again, as a new one.');
    onClose();
    openNew(href(`messages/${id}`));
  });
  return (
    <ConfirmDialog title="Send it again?" confirm="Send a new message" action={send} onClose={onClose}>
      <p>
        A new message with the same text, type, metadata and ordering key is delivered now. This one stays as it is.
      </p>
    </ConfirmDialog>
  );
}

/** Programs that send the message again. None contains a key. */
export function CopyAs({ message }: { message: Message }) {
  return (
    <Card title="Copy as">
      <div class="actions">
        {PROGRAMS.map((program) => (
          <CopyButton
            key={program}
            look="plain"
            text={programFor(program, message, BASE_URL)}
            what={`message for ${program}`}
          >
            {program}
          </CopyButton>
        ))}
      </div>
      <p class="hint">
        Sends it again. The key is not copied: set <code>SLUICE_API_KEY</code> first.
      </p>
    </Card>
  );
}
