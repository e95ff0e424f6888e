-- The token of the lease of an attempt that a consumer has ended: only with it can the end be repeated.
ALTER TABLE sluice.attempts ADD COLUMN token uuid;
