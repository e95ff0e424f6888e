import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Loaded } from '../components/loaded.js';
import { Badge, Card, Fact, Facts, Id, Page } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { DeliveryCard } from '../components/settings/delivery-card.js';
import { Pausing } from '../components/shell/paused.js';
import { KeepSignedIn } from '../components/welcome/keep-signed-in.js';
import { pause } from '../session/connection.js';
import { formatTime } from '../text/format.js';
import { useAction, useEdits, useResource } from '../loading/hooks.js';
import { account, changeAccount, loadAccount } from '../session/account.js';
import { isKept, keepSignedIn } from '../session/session.js';

export function SettingsView() {
  const loaded = useResource(loadAccount, []);
  return (
    <Page title="Settings" lead="What holds for the whole account, and for this browser.">
      <Loaded resource={loaded} rows={6}>
        {(first) => {
          const { id, plan, createdAt } = account.value ?? first;
          return (
            <>
              <Card title="Account" actions={<Badge tone="info">{plan}</Badge>}>
                <NameForm name={(account.value ?? first).name} />
                <Facts>
                  <Fact name="Account id">
                    <Id id={id} what="id of the account" />
                  </Fact>
                  <Fact name="Created">{formatTime(createdAt)}</Fact>
                </Facts>
              </Card>
              <DeliveryCard />
              <Pausing />
            </>
          );
        }}
      </Loaded>
      {/* Not before what stands above it, which would move it. */}
      {(loaded.data !== null || loaded.error !== null) && (
        <Card title="This browser">
          <KeepSignedIn checked={isKept.value} onChange={keepSignedIn} />
        </Card>
      )}
    </Page>
  );
}

function NameForm({ name }: { name: string }) {
  const { shown, changed, isChanged, edit, saved } = useEdits({ name });
  const { run, isRunning, error } = useAction(async () => {
    await changeAccount(changed);
    saved(shown);
    announce('The account is renamed.');
  });
  const isDisabled = !isChanged || pause.value !== null;
  return (
    <Form
      onSubmit={() => {
        if (!isDisabled) void run();
      }}
    >
      <Field label="Name" hint="Up to 100 characters." error={fieldError(error, '/name')}>
        {(tied) => (
          <input
            {...tied}
            required
            autocomplete="organization"
            value={shown.name}
            onInput={({ currentTarget }) => {
              edit({ name: currentTarget.value });
            }}
          />
        )}
      </Field>
      <Problem error={error} fields={['/name']} />
      <div class="actions">
        <Button type="submit" isBusy={isRunning} isDisabled={isDisabled}>
          Rename
        </Button>
      </div>
    </Form>
  );
}
