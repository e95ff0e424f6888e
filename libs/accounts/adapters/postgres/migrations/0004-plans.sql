-- Plans are data: operators change them and add others.
CREATE TABLE sluice.plans (
  name text PRIMARY KEY CHECK (name ~ '^[a-z0-9-]{1,40}$'),
  -- Whether limits are agreed with each account. Until they are, those of the plan apply.
  individual boolean NOT NULL,
  per_minute integer NOT NULL CHECK (per_minute > 0),
  per_day integer NOT NULL CHECK (per_day > 0),
  -- NULL: as the settings have it.
  max_stored_bytes bigint CHECK (max_stored_bytes > 0),
  max_endpoints integer CHECK (max_endpoints >= 0),
  -- Another one after every change, also of a plan that was deleted and created again.
  version integer GENERATED ALWAYS AS IDENTITY
);
INSERT INTO sluice.plans (name, individual, per_minute, per_day) VALUES
  ('free', false, 60, 1000),
  ('pro', false, 300, 10000),
  ('business', false, 1000, 100000),
  ('enterprise', true, 1000, 100000);

ALTER TABLE sluice.accounts DROP CONSTRAINT accounts_plan_check;
ALTER TABLE sluice.accounts ADD CONSTRAINT accounts_plan_fkey FOREIGN KEY (plan) REFERENCES sluice.plans;
CREATE INDEX accounts_by_plan ON sluice.accounts (plan);

-- An account has limits of its own only where they were agreed: all others are those of its plan, which a change of the
-- plan need not copy to its accounts.
ALTER TABLE sluice.accounts ALTER COLUMN per_minute DROP NOT NULL, ALTER COLUMN per_day DROP NOT NULL;
UPDATE sluice.accounts SET per_minute = NULL, per_day = NULL WHERE plan <> 'enterprise';

-- For the statements of other contexts.
CREATE OR REPLACE VIEW sluice.account_plans AS
  SELECT a.id, a.plan, p.max_stored_bytes, p.max_endpoints,
         CASE WHEN p.individual THEN coalesce(a.per_minute, p.per_minute) ELSE p.per_minute END AS per_minute,
         CASE WHEN p.individual THEN coalesce(a.per_day, p.per_day) ELSE p.per_day END AS per_day
  FROM sluice.accounts a JOIN sluice.plans p ON p.name = a.plan;

-- What operators have changed. Each entry is stored in the transaction of its change.
CREATE TABLE sluice.audit (
  id text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  operator text NOT NULL,
  action text NOT NULL,
  -- The name of a plan, or the id of what has one.
  subject text NOT NULL,
  account_id text COLLATE "C",
  before json,
  after json
);
CREATE INDEX audit_by_account ON sluice.audit (account_id, id);
