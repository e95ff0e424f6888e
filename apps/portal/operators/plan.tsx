import { useState } from 'preact/hooks';
import type { Plan, PlanInput } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { ConfirmDialog } from '../components/confirm-dialog.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Loaded } from '../components/loaded.js';
import { NumberField, wholeNumber } from '../components/number-field.js';
import { Card, Page } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { call } from '../session/connection.js';
import { count } from '../text/format.js';
import { useAction, useEdits, useOpened, useResource } from '../loading/hooks.js';
import { href, opener, replace } from '../navigation/router.js';
import { LimitFields, limitsOf, typedLimits } from './limit-fields.js';

const BACK = { label: 'Plans', to: href('plans') };
const FIELDS = ['/limits', '/maxStoredBytes', '/maxEndpoints'];
const LIMITS = [
  { value: 'plan', label: 'The same for every account' },
  { value: 'account', label: 'Agreed with each account' },
] as const;

/** A plan that is edited: its numbers as they are typed. */
interface Draft {
  readonly by: (typeof LIMITS)[number]['value'];
  readonly perMinute: string;
  readonly perDay: string;
  readonly maxStoredBytes: string;
  readonly maxEndpoints: string;
}

export function PlanView({ name }: { name: string }) {
  const plan = useResource(() => call((client) => client.admin.plans.get(name)), [name]);
  const { what: isAsking, open, close } = useOpened<true>();
  return (
    <Page
      title={name}
      back={BACK}
      lead={plan.data === null ? undefined : `${count(plan.data.accounts, 'account')} on this plan.`}
      actions={
        plan.data !== null && (
          <Button
            look="danger"
            onClick={() => {
              open(true);
            }}
          >
            Delete
          </Button>
        )
      }
    >
      <Loaded resource={plan} rows={4}>
        {(shown) => (
          <PlanForm
            plan={shown}
            save={async (input) => {
              const saved = await call((client) => client.admin.plans.put(name, input, { version: shown.version }));
              plan.set(() => saved);
              announce('The plan is changed.');
            }}
          />
        )}
      </Loaded>
      {isAsking && plan.data !== null && <DeleteDialog plan={plan.data} onClose={close} />}
    </Page>
  );
}

export function NewPlanView() {
  const [name, setName] = useState('');
  return (
    <Page title="Create a plan" back={BACK}>
      <PlanForm
        plan={null}
        save={async (input) => {
          const openNew = opener();
          await call((client) => client.admin.plans.put(name, input, { version: null }));
          announce('The plan is created.');
          openNew(href(`plans/${name}`));
        }}
      >
        <Field label="Name" hint="1 to 40 of a-z, 0-9 and -. It cannot be changed.">
          {(tied) => (
            <input
              {...tied}
              required
              pattern="[a-z0-9\-]{1,40}"
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value);
              }}
            />
          )}
        </Field>
      </PlanForm>
    </Page>
  );
}

interface PlanFormProps {
  readonly plan: Plan | null;
  readonly save: (input: PlanInput) => Promise<void>;
  readonly children?: preact.ComponentChildren;
}

function PlanForm({ plan, save, children }: PlanFormProps) {
  const { shown: draft, edit, saved } = useEdits(draftOf(plan));
  const { run, isRunning, error } = useAction(async () => {
    await save(inputOf(draft));
    saved(draft);
  });
  return (
    <Card title="What it allows">
      <Form onSubmit={() => void run()}>
        {children}
        <Choice
          label="Request limits"
          hint="What was used stays used."
          value={draft.by}
          choices={LIMITS}
          onChange={(by) => {
            edit({ by });
          }}
        />
        {draft.by === 'plan' && <LimitFields {...draft} onInput={edit} />}
        {fieldError(error, '/limits') !== undefined && <p class="field-error">{fieldError(error, '/limits')}</p>}
        <div class="limits">
          <NumberField
            label="Stored bytes"
            hint="Empty: as configured."
            error={fieldError(error, '/maxStoredBytes')}
            required={false}
            value={draft.maxStoredBytes}
            onInput={(maxStoredBytes) => {
              edit({ maxStoredBytes });
            }}
          />
          <NumberField
            label="Endpoints"
            hint="Empty: 50."
            error={fieldError(error, '/maxEndpoints')}
            required={false}
            min={0}
            max={100}
            value={draft.maxEndpoints}
            onInput={(maxEndpoints) => {
              edit({ maxEndpoints });
            }}
          />
        </div>
        <Problem error={error} fields={FIELDS} />
        <div class="actions">
          <Button type="submit" look="primary" isBusy={isRunning}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function DeleteDialog({ plan: { name, version }, onClose }: { plan: Plan; onClose: () => void }) {
  const action = useAction(async () => {
    const leave = opener(replace);
    await call((client) => client.admin.plans.delete(name, { version }));
    announce('The plan is deleted.');
    leave(href('plans'));
  });
  return (
    <ConfirmDialog
      {...{ title: `Delete the plan ${name}?`, confirm: 'Delete the plan', look: 'danger' }}
      action={action}
      onClose={onClose}
    >
      <p>Only a plan that no account has can be deleted.</p>
    </ConfirmDialog>
  );
}

function draftOf(plan: Plan | null): Draft {
  return {
    by: plan === null || plan.limits !== null ? 'plan' : 'account',
    ...typedLimits(plan?.limits),
    maxStoredBytes: String(plan?.maxStoredBytes ?? ''),
    maxEndpoints: String(plan?.maxEndpoints ?? ''),
  };
}

function inputOf({ by, maxStoredBytes, maxEndpoints, ...limits }: Draft): PlanInput {
  const orNull = (typed: string) => (typed === '' ? null : wholeNumber(typed));
  return {
    limits: by === 'plan' ? limitsOf(limits) : null,
    maxStoredBytes: orNull(maxStoredBytes),
    maxEndpoints: orNull(maxEndpoints),
  };
}
