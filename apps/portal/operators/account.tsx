import type { OperatorsAccount, OperatorsAccountChanges } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { ConfirmDialog } from '../components/confirm-dialog.js';
import { Form } from '../components/form.js';
import { Loaded } from '../components/loaded.js';
import { Badge, Card, Fact, Facts, Id, Page } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { UsageHistory } from '../components/charts/usage-history.js';
import { call } from '../session/connection.js';
import { formatNumber, formatTime } from '../text/format.js';
import { useAction, useEdits, useOpened, useResource } from '../loading/hooks.js';
import { href } from '../navigation/router.js';
import { NameCard } from './account-name.js';
import { PlanBadge } from './accounts.js';
import { DeleteDialog } from './delete-account.js';
import { Keys } from './keys.js';
import { LimitFields, limitsOf, typedLimits } from './limit-fields.js';
import { allPlans } from './plans.js';
import { nameHidden } from '../text/hidden-characters.js';

export function AccountView({ id }: { id: string }) {
  const account = useResource(() => call((client) => client.admin.accounts.get(id)), [id]);
  const { what: asking, open: ask, close } = useOpened<'suspend' | 'delete'>();
  const { data } = account;
  const change = (changes: OperatorsAccountChanges) =>
    account.change(() => call((client) => client.admin.accounts.update(id, changes)));
  return (
    <Page
      title={nameHidden(data?.name ?? 'Account')}
      back={{ label: 'Accounts', to: href('accounts') }}
      badge={
        data !== null && (
          <>
            <PlanBadge plan={data.plan} />
            {data.suspended && <Badge tone="bad">suspended</Badge>}
            {data.paused && <Badge tone="warn">paused</Badge>}
          </>
        )
      }
      actions={
        data !== null && (
          <>
            <Button
              look={data.suspended ? 'primary' : 'danger'}
              onClick={() => {
                ask('suspend');
              }}
            >
              {data.suspended ? 'Resume' : 'Suspend'}
            </Button>
            <Button
              look="danger"
              onClick={() => {
                ask('delete');
              }}
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded resource={account} rows={6}>
        {(shown) => (
          <div class="columns detail">
            <div>
              <PlanCard account={shown} change={change} />
              <NameCard account={shown} change={change} />
              <Keys accountId={shown.id} />
              <UsageHistory accountId={shown.id} />
            </div>
            <Details account={shown} />
          </div>
        )}
      </Loaded>
      {asking === 'suspend' && data !== null && <SuspendDialog account={data} change={change} onClose={close} />}
      {asking === 'delete' && data !== null && <DeleteDialog account={data} onClose={close} />}
    </Page>
  );
}

function Details({ account: { id, externalId, limits, delivery, createdAt } }: { account: OperatorsAccount }) {
  return (
    <Card title="Details">
      <Facts>
        <Fact name="Limits">
          {formatNumber(limits.perMinute)} requests a minute, {formatNumber(limits.perDay)} a day
        </Fact>
        <Fact name="Delivery">{delivery}</Fact>
        <Fact name="Id">
          <Id id={id} what="id of the account" />
        </Fact>
        {externalId !== null && (
          <Fact name="External id">
            <code>{externalId}</code>
          </Fact>
        )}
        <Fact name="Created">{formatTime(createdAt)}</Fact>
      </Facts>
    </Card>
  );
}

interface ChangeProps {
  readonly account: OperatorsAccount;
  readonly change: (changes: OperatorsAccountChanges) => Promise<unknown>;
}

function PlanCard({ account, change }: ChangeProps) {
  const { shown, changed, isChanged, edit, saved } = useEdits({ plan: account.plan, ...typedLimits(account.limits) });
  const plans = useResource(allPlans, []);
  const isIndividual = plans.data?.find(({ name }) => name === shown.plan)?.limits === null;
  const isSame = isIndividual ? !isChanged : changed.plan === undefined;
  const names = plans.data?.map(({ name }) => name) ?? [account.plan];
  const { run, isRunning, error } = useAction(async () => {
    // They are one field of the API: what is not edited of them may be another limit by now.
    const current = isIndividual ? await call((client) => client.admin.accounts.get(account.id)) : null;
    const limits = current === null ? undefined : limitsOf({ ...typedLimits(current.limits), ...changed });
    await change({ plan: changed.plan, limits });
    saved(shown);
    announce('The plan is changed.');
  });
  return (
    <Card title="Change the plan">
      <Form
        onSubmit={() => {
          if (!isSame) void run();
        }}
      >
        <Choice
          label="Plan"
          hint="Takes effect everywhere within a second. What was used stays used."
          value={shown.plan}
          choices={names.map((name) => ({ value: name, label: name }))}
          onChange={(plan) => {
            edit({ plan });
          }}
        />
        {isIndividual && <LimitFields {...shown} onInput={edit} />}
        {fieldError(error, '/limits') !== undefined && <p class="field-error">{fieldError(error, '/limits')}</p>}
        <Problem error={error ?? plans.error} fields={['/limits']} />
        <div class="actions">
          <Button type="submit" isBusy={isRunning} isDisabled={isSame}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function SuspendDialog({ account: { name, suspended }, change, onClose }: ChangeProps & { onClose: () => void }) {
  const action = useAction(async () => {
    await change({ suspended: !suspended });
    announce(suspended ? 'The account is resumed.' : 'The account is suspended.');
    onClose();
  });
  return suspended ? (
    <ConfirmDialog
      title={`Resume “${nameHidden(name)}”?`}
      confirm="Resume the account"
      action={action}
      onClose={onClose}
    >
      <p>Its keys work again, and its queued messages are delivered.</p>
    </ConfirmDialog>
  ) : (
    <ConfirmDialog
      {...{ title: `Suspend “${nameHidden(name)}”?`, confirm: 'Suspend the account', look: 'danger' }}
      action={action}
      onClose={onClose}
    >
      <p>
        Within a second, all its keys get 403. Its messages are kept, and the queued ones wait until the account is
        resumed.
      </p>
    </ConfirmDialog>
  );
}
