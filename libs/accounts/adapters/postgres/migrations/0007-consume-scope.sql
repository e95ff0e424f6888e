-- Keys that could do everything still can: no key may create one that can do more than itself.
UPDATE sluice.api_keys SET scopes = ARRAY['messages:send', 'messages:read', 'messages:consume', 'account:manage']
WHERE scopes @> ARRAY['messages:send', 'messages:read', 'account:manage'] AND revoked_at IS NULL;
