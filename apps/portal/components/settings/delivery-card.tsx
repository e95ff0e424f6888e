import type { DeliveryMode } from '#client/index.js';
import { pause } from '../../session/connection.js';
import { useAction, useEdits } from '../../loading/hooks.js';
import { account, changeAccount } from '../../session/account.js';
import { announce } from '../announcer.js';
import { Button } from '../button.js';
import { Form } from '../form.js';
import { Card } from '../parts.js';
import { Problem } from '../problem.js';
import { DeliveryWarning } from './delivery-warning.js';

const MODES: Readonly<Record<DeliveryMode, { readonly title: string; readonly text: string }>> = {
  handler: { title: 'Worker', text: 'By the workers that the operator runs.' },
  webhooks: { title: 'Webhooks', text: 'Posted to your endpoints, signed and retried for three days.' },
  pull: { title: 'Pull', text: 'Your programs lease messages and acknowledge them.' },
};

export function DeliveryCard() {
  const { shown, isChanged, edit, saved } = useEdits({ delivery: account.value?.delivery });
  const mode = shown.delivery;
  const { run, isRunning, error } = useAction(async (delivery: DeliveryMode) => {
    await changeAccount({ delivery });
    saved(shown);
    announce(`New messages are delivered this way: ${MODES[delivery].title}.`);
  });
  return (
    <Card title="How your messages are delivered">
      <Form
        onSubmit={() => {
          if (mode !== undefined && isChanged) void run(mode);
        }}
      >
        <fieldset class="modes">
          <legend class="visually-hidden">How your messages are delivered</legend>
          {Object.entries(MODES).map(([name, { title, text }]) => (
            <label key={name} class="mode">
              <input
                type="radio"
                name="delivery"
                checked={name === mode}
                onChange={() => {
                  edit({ delivery: name as DeliveryMode });
                }}
              />
              <span>
                <strong>{title}</strong>
                <span class="hint">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div aria-live="polite">
          <DeliveryWarning mode={mode} />
        </div>
        <div class="actions">
          <Button type="submit" isBusy={isRunning} isDisabled={!isChanged || pause.value !== null}>
            Save
          </Button>
          <span class="hint">A change applies to messages that are accepted from then on.</span>
        </div>
      </Form>
      <Problem error={error} />
    </Card>
  );
}
