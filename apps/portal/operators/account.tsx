import { useState } from 'preact/hooks';
import type { ApiKey, Ban, Limits, List, OperatorsAccount, Plan } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { ConfirmDialog } from '../components/confirm-dialog.js';
import { Field } from '../components/field.js';
import { KeyRow } from '../components/key-row.js';
import { Badge, Card, Fact, Facts, Id, Page, Skeleton } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { call } from '../connection.js';
import { formatMoment, formatNumber, formatTime } from '../format.js';
import { useAction, useList, useResource } from '../hooks.js';
import { href } from '../router.js';
import { PlanBadge } from './accounts.js';
import { LiftButton } from './bans.js';
import { More } from './more.js';

const PLANS = (['free', 'pro', 'business', 'enterprise'] as const satisfies readonly Plan[]).map((plan) => ({
  value: plan,
  label: plan,
}));
const MAX_LIMIT = 1_000_000_000;

export function AccountView({ id }: { id: string }) {
  const account = useResource(() => call((client) => client.admin.accounts.get(id)), [id]);
  const [isAsking, setIsAsking] = useState(false);
  const { data, error, isLoading, reload } = account;
  const change = (changed: OperatorsAccount) => {
    account.set(() => changed);
  };
  return (
    <Page
      title={data?.name ?? 'Account'}
      back={{ label: 'Accounts', to: href('accounts') }}
      badge={
        data !== null && (
          <>
            <PlanBadge plan={data.plan} />
            {data.suspended && <Badge tone="bad">suspended</Badge>}
          </>
        )
      }
      actions={
        data !== null && (
          <Button
            look={data.suspended ? 'primary' : 'danger'}
            onClick={() => {
              setIsAsking(true);
            }}
          >
            {data.suspended ? 'Resume' : 'Suspend'}
          </Button>
        )
      }
    >
      <Problem error={error} onRetry={reload} />
      {data === null ? (
        isLoading && <Skeleton rows={6} />
      ) : (
        <div class="columns detail">
          <div>
            <PlanCard account={data} onChanged={change} />
            <Keys accountId={data.id} />
          </div>
          <Details account={data} />
        </div>
      )}
      {isAsking && data !== null && (
        <SuspendDialog
          account={data}
          onChanged={change}
          onClose={() => {
            setIsAsking(false);
          }}
        />
      )}
    </Page>
  );
}

function Details({ account: { id, limits, delivery, createdAt } }: { account: OperatorsAccount }) {
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
        <Fact name="Created">{formatTime(createdAt)}</Fact>
      </Facts>
    </Card>
  );
}

interface ChangeProps {
  readonly account: OperatorsAccount;
  readonly onChanged: (account: OperatorsAccount) => void;
}

function PlanCard({ account, onChanged }: ChangeProps) {
  // What is not edited follows the account.
  const [edited, setEdited] = useState<Partial<Pick<OperatorsAccount, 'plan' | 'limits'>>>({});
  const { plan, limits } = { ...account, ...edited };
  const isEnterprise = plan === 'enterprise';
  const isSame = plan === account.plan && (!isEnterprise || isEqual(limits, account.limits));
  const { run, isRunning, error } = useAction(async () => {
    const input = isEnterprise ? { plan, limits } : { plan };
    const changed = await call((client) => client.admin.accounts.update(account.id, input));
    onChanged(changed);
    setEdited({});
    announce('The plan is changed.');
  });
  return (
    <Card title="Change the plan">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isSame) void run();
        }}
      >
        <Choice
          label="Plan"
          hint="Takes effect everywhere within a second. What was used stays used."
          value={plan}
          choices={PLANS}
          onChange={(chosen) => {
            setEdited({ ...edited, plan: chosen });
          }}
        />
        {isEnterprise && (
          <div class="limits">
            <LimitField
              label="Requests a minute"
              value={limits.perMinute}
              onInput={(perMinute) => {
                setEdited({ ...edited, limits: { ...limits, perMinute } });
              }}
            />
            <LimitField
              label="Requests a day"
              value={limits.perDay}
              onInput={(perDay) => {
                setEdited({ ...edited, limits: { ...limits, perDay } });
              }}
            />
          </div>
        )}
        {fieldError(error, '/limits') !== undefined && <p class="field-error">{fieldError(error, '/limits')}</p>}
        <Problem error={error} fields={['/limits']} />
        <div class="actions">
          <Button type="submit" isBusy={isRunning} isDisabled={isSame}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  );
}

interface LimitFieldProps {
  readonly label: string;
  readonly value: number;
  readonly onInput: (value: number) => void;
}

function LimitField({ label, value, onInput }: LimitFieldProps) {
  return (
    <Field label={label}>
      {(tied) => (
        <input
          {...tied}
          type="number"
          required
          min={1}
          max={MAX_LIMIT}
          value={Number.isNaN(value) ? '' : value}
          onInput={({ currentTarget }) => {
            onInput(currentTarget.valueAsNumber);
          }}
        />
      )}
    </Field>
  );
}

function isEqual(one: Limits, other: Limits): boolean {
  return one.perMinute === other.perMinute && one.perDay === other.perDay;
}

function SuspendDialog({
  account: { id, name, suspended },
  onChanged,
  onClose,
}: ChangeProps & { onClose: () => void }) {
  const action = useAction(async () => {
    onChanged(await call((client) => client.admin.accounts.update(id, { suspended: !suspended })));
    announce(suspended ? 'The account is resumed.' : 'The account is suspended.');
    onClose();
  });
  return suspended ? (
    <ConfirmDialog title={`Resume “${name}”?`} confirm="Resume the account" action={action} onClose={onClose}>
      <p>Its keys work again, and its queued messages are delivered.</p>
    </ConfirmDialog>
  ) : (
    <ConfirmDialog
      {...{ title: `Suspend “${name}”?`, confirm: 'Suspend the account', look: 'danger' }}
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

function Keys({ accountId }: { accountId: string }) {
  const keys = useList(
    (cursor) => call((client) => client.admin.accounts.keys(accountId, { cursor }).page()),
    [accountId],
  );
  const bans = useResource(() => call((client) => allOf(client.admin.bans.list({ accountId }))), [accountId]);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const { data, error, isLoading, reload } = keys;
  const forgetBan = (keyId: string) => {
    bans.set((all) => all.filter((ban) => ban.keyId !== keyId));
  };
  return (
    <section class="stack" aria-label="API keys">
      <h2>API keys</h2>
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
                  label={`Revoke ${key.name}`}
                  onClick={() => {
                    setRevoking(key);
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
          onClose={() => {
            setRevoking(null);
          }}
        />
      )}
    </section>
  );
}

async function allOf<Item>(list: List<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

function BanBadge({ ban: { bannedUntil, reason } }: { ban: Ban }) {
  return (
    <Badge tone="bad">
      <span title={reason}>banned until {formatMoment(bannedUntil)}</span>
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
    announce(`The key ${name} is revoked.`);
    onClose();
    onRevoked();
  });
  return (
    <ConfirmDialog
      {...{ title: `Revoke “${name}”?`, confirm: 'Revoke the key', look: 'danger' }}
      action={revoke}
      onClose={onClose}
    >
      <p>Every request with this key gets 401 from now on. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
