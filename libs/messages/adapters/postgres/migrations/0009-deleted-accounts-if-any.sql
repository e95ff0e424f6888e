-- The accounts are looked up only when there are any deleted ones, and each account of the messages is hashed once.
CREATE OR REPLACE FUNCTION sluice.refuse_deleted_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM sluice.deleted_accounts) THEN
    -- An array of digests takes a fifth of the time of calls of sluice.is_account_deleted.
    IF EXISTS (
      SELECT FROM sluice.deleted_accounts WHERE digest = ANY (ARRAY(
        SELECT sha256(convert_to(account_id, 'UTF8')) FROM (SELECT DISTINCT account_id FROM new_rows) senders))
    ) THEN
      RAISE EXCEPTION 'The account was deleted.' USING ERRCODE = 'SLDEL';
    END IF;
  END IF;
  RETURN NULL;
END $$;
