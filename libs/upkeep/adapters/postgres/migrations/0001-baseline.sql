-- One row: the reconciler's last run, by any process, and its walk through the open messages.
CREATE TABLE sluice.reconciler (
  began_at timestamptz NOT NULL,
  -- The walk continues after this message.
  position text COLLATE "C" NOT NULL,
  -- Strays that the walk has found since it began, and that the one before found.
  strays integer NOT NULL,
  strays_before integer NOT NULL
);
INSERT INTO sluice.reconciler VALUES (now(), '', 0, 0);
