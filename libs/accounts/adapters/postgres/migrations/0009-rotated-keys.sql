-- A rotated key expires when its grace ends. Its successors get the expiry that it was created with.
ALTER TABLE sluice.api_keys ADD COLUMN rotated_at timestamptz, ADD COLUMN created_to_expire_at timestamptz;
