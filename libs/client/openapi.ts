/** Generated from the OpenAPI document by `npm run client:types`. */

export interface components {
  schemas: {
    /**
     * @description A stable, machine-readable error code.
     * @enum {string}
     */
    ErrorCode:
      | 'account_not_found'
      | 'account_suspended'
      | 'api_key_banned'
      | 'api_key_not_found'
      | 'ban_not_found'
      | 'batch_exceeds_limit'
      | 'body_too_large'
      | 'endpoint_disabled'
      | 'endpoint_not_found'
      | 'external_id_taken'
      | 'headers_too_large'
      | 'idempotency_key_in_use'
      | 'idempotency_key_reused'
      | 'insufficient_scope'
      | 'internal_error'
      | 'invalid_content_type'
      | 'invalid_json'
      | 'invalid_transition'
      | 'lease_lost'
      | 'malformed_request'
      | 'message_not_found'
      | 'method_not_allowed'
      | 'not_found'
      | 'plan_changed'
      | 'plan_in_use'
      | 'plan_not_found'
      | 'portal_link_not_found'
      | 'rate_limit_exceeded'
      | 'request_timeout'
      | 'signup_closed'
      | 'storage_full'
      | 'too_many_endpoints'
      | 'too_many_keys'
      | 'too_many_streams'
      | 'unauthorized'
      | 'unavailable'
      | 'unsupported_encoding'
      | 'validation_failed'
      | 'webhooks_disabled';
    /** @description An error in one field. */
    FieldFault: {
      /**
       * @description A JSON Pointer (RFC 6901) to the field in the body. Empty for errors outside the body.
       * @example /message
       */
      pointer: string;
      /**
       * @description What is allowed.
       * @example message must not be empty.
       */
      detail: string;
    };
    /** @description A problem document (RFC 9457). Programs should rely on `code`; `detail` is for people. */
    Problem: {
      /**
       * Format: uri-reference
       * @description A page that explains the error.
       * @example /errors/validation_failed
       */
      type: string;
      /**
       * @description A summary of the error, the same for every occurrence of a `code`.
       * @example The request has invalid fields
       */
      title: string;
      /**
       * @description The HTTP status code.
       * @example 400
       */
      status: number;
      /**
       * @description What caused this error and how to fix it.
       * @example message must not be empty.
       */
      detail: string;
      code: components['schemas']['ErrorCode'];
      /**
       * @description The `X-Request-Id` of the response.
       * @example 957132b9-0870-4379-94e6-608a5ad625b5
       */
      requestId: string;
      /** @description All errors of the request. Only with status 400. */
      errors?: components['schemas']['FieldFault'][];
    };
    /** @description A message, as an endpoint gets it. */
    MessageWebhook: {
      /**
       * @description The type of the message, or `message` if it has none. `test`: sent by `POST /endpoints/{id}/test`.
       * @example message
       */
      type: string;
      /**
       * Format: date-time
       * @description When the message was accepted.
       * @example 2026-11-21T09:30:00.123Z
       */
      timestamp: string;
      data: {
        /**
         * @description The id of the message.
         * @example msg_01h455vb4pex5vsknk084sn02q
         */
        id: string;
        /**
         * @description The text, exactly as it was sent.
         * @example Hello, Sluice
         */
        message: string;
        /**
         * Format: date-time
         * @description When to deliver, if it was sent.
         * @example 2026-11-21T12:00:00.000Z
         */
        deliverAt?: string;
        /**
         * @description The type that was sent, if any.
         * @example order.paid
         */
        type?: string;
        /**
         * @description The metadata that was sent, if any.
         * @example {
         *       "region": "eu"
         *     }
         */
        metadata?: Record<string, string>;
        /**
         * @description The ordering key that was sent, if any.
         * @example customer-17
         */
        orderingKey?: string;
        /**
         * Format: date-time
         * @description When the message was accepted.
         * @example 2026-11-21T09:30:00.123Z
         */
        createdAt: string;
      };
    };
    SignUpBody: {
      /**
       * @description 1 to 100 characters, not only whitespace.
       * @example Acme
       */
      name: string;
    };
    /**
     * @description A group of operations that an API key may call.
     * @enum {string}
     */
    Scope: 'messages:send' | 'messages:read' | 'messages:consume' | 'account:manage';
    /** @description A new API key with its secret, which is shown only once. */
    IssuedKey: {
      /**
       * @description The id of the API key. It is not secret.
       * @example key_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The purpose of the key.
       * @example first key
       */
      name: string;
      /**
       * @description The operations that the key may call.
       * @example [
       *       "messages:send",
       *       "messages:read",
       *       "messages:consume",
       *       "account:manage"
       *     ]
       */
      scopes: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the key was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When the key expires. Null if never.
       * @example 2027-01-31T12:00:00.000Z
       */
      expiresAt: string | null;
      /**
       * @description The secret key. It cannot be retrieved again.
       * @example slc_…
       */
      key: string;
    };
    /** @description A new account with its first API key. */
    NewAccount: {
      /**
       * @description The id of the account.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The name given at sign-up, or changed since.
       * @example Acme
       */
      name: string;
      /**
       * @description The name of the plan of the account, which determines its limits.
       * @example free
       */
      plan: string;
      /**
       * Format: date-time
       * @description When the account was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      apiKey: components['schemas']['IssuedKey'];
    };
    /** @description Request limits, shared by all keys of an account. */
    Limits: {
      /** @example 60 */
      perMinute: number;
      /** @example 1000 */
      perDay: number;
    };
    /**
     * @description How messages are delivered: `handler`: by the workers of the operator. `webhooks`: to the endpoints of the account. `pull`: to clients that lease them. Each message keeps the mode that was in force when it was accepted.
     * @enum {string}
     */
    DeliveryMode: 'handler' | 'webhooks' | 'pull';
    /** @description An account. */
    Account: {
      /**
       * @description The id of the account.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The name given at sign-up, or changed since.
       * @example Acme
       */
      name: string;
      /**
       * @description The name of the plan of the account, which determines its limits.
       * @example free
       */
      plan: string;
      limits: components['schemas']['Limits'];
      delivery: components['schemas']['DeliveryMode'];
      /**
       * @description Whether messages are accepted, but not delivered.
       * @example false
       */
      paused: boolean;
      /**
       * Format: date-time
       * @description When the account was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
    };
    ChangeOwnAccountBody: {
      /**
       * @description The new name. Unchanged if omitted.
       * @example Acme Ltd
       */
      name?: string;
      /**
       * @description How messages that are accepted from now on are delivered. Unchanged if omitted.
       * @example pull
       */
      delivery?: components['schemas']['DeliveryMode'];
      /**
       * @description Whether messages are accepted, but not delivered. Unchanged if omitted.
       * @example true
       */
      paused?: boolean;
    };
    /** @description An API key, without its secret. */
    ApiKey: {
      /**
       * @description The id of the API key. It is not secret.
       * @example key_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The purpose of the key.
       * @example first key
       */
      name: string;
      /**
       * @description The operations that the key may call.
       * @example [
       *       "messages:send",
       *       "messages:read",
       *       "messages:consume",
       *       "account:manage"
       *     ]
       */
      scopes: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the key was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When the key expires. Null if never.
       * @example 2027-01-31T12:00:00.000Z
       */
      expiresAt: string | null;
      /**
       * @description How the key begins and ends, to recognise it. Null for a key from before hints were stored.
       * @example slc_7k2m…x9qa
       */
      hint: string | null;
      /**
       * Format: date-time
       * @description When the key was last used, to the minute. Null if never.
       * @example 2026-11-21T09:30:00.000Z
       */
      lastUsedAt: string | null;
    };
    /** @description A page of a list, newest first. */
    ApiKeyPage: {
      data: components['schemas']['ApiKey'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    CreateApiKeyBody: {
      /**
       * @description The purpose of the key: 1 to 100 characters, not only whitespace.
       * @example billing
       */
      name: string;
      /**
       * @description A subset of the scopes of the key that makes the request, or of all for operators. Defaults to all of them.
       * @example [
       *       "messages:send"
       *     ]
       */
      scopes?: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the key expires, in the future. Never if omitted.
       * @example 2030-01-31T12:00:00Z
       */
      expiresAt?: string;
    };
    RotateApiKeyBody: {
      /**
       * @description Seconds for which the old key remains valid. Defaults to 0.
       * @example 3600
       */
      graceSeconds?: number;
    };
    /** @description An account, as operators see it. */
    OperatorsAccount: {
      /**
       * @description The id of the account.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The name given at sign-up, or changed since.
       * @example Acme
       */
      name: string;
      /**
       * @description The name of the plan of the account, which determines its limits.
       * @example free
       */
      plan: string;
      limits: components['schemas']['Limits'];
      delivery: components['schemas']['DeliveryMode'];
      /**
       * @description Whether messages are accepted, but not delivered.
       * @example false
       */
      paused: boolean;
      /**
       * Format: date-time
       * @description When the account was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * @description What the operator's own systems call the account. Null if nothing.
       * @example customer-4711
       */
      externalId: string | null;
      /**
       * @description Whether the keys of the account are refused and its queued messages wait.
       * @example false
       */
      suspended: boolean;
    };
    /** @description A page of a list, newest first. */
    OperatorsAccountPage: {
      data: components['schemas']['OperatorsAccount'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    CreateAccountBody: {
      /**
       * @description 1 to 100 characters, not only whitespace.
       * @example Acme
       */
      name: string;
      /**
       * @description That of sign-ups if omitted.
       * @example pro
       */
      plan?: string;
      /**
       * @description Individually agreed limits. Only with a plan that has none of its own, such as `enterprise`.
       * @example {
       *       "perMinute": 5000,
       *       "perDay": 1000000
       *     }
       */
      limits?: components['schemas']['Limits'];
      /**
       * @description What your own systems call the account: 1 to 255 visible ASCII characters, different from those of all others.
       * @example customer-4711
       */
      externalId?: string;
    };
    /** @description A new account with its first API key, as the operator who created it sees it. */
    CreatedAccount: {
      /**
       * @description The id of the account.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The name given at sign-up, or changed since.
       * @example Acme
       */
      name: string;
      /**
       * @description The name of the plan of the account, which determines its limits.
       * @example free
       */
      plan: string;
      limits: components['schemas']['Limits'];
      /**
       * @description What the operator's own systems call the account. Null if nothing.
       * @example customer-4711
       */
      externalId: string | null;
      /**
       * Format: date-time
       * @description When the account was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      apiKey: components['schemas']['IssuedKey'];
    };
    ChangeAccountBody: {
      /**
       * @description The new name. Unchanged if omitted.
       * @example Acme Ltd
       */
      name?: string;
      /**
       * @description The new plan. Unchanged if omitted.
       * @example enterprise
       */
      plan?: string;
      /**
       * @description Individually agreed limits. Only with a plan that has none of its own, such as `enterprise`.
       * @example {
       *       "perMinute": 5000,
       *       "perDay": 1000000
       *     }
       */
      limits?: components['schemas']['Limits'];
      /**
       * @description Whether the keys of the account are refused and its queued messages wait. Unchanged if omitted.
       * @example false
       */
      suspended?: boolean;
      /**
       * @description Whether messages are accepted, but not delivered. Unchanged if omitted.
       * @example false
       */
      paused?: boolean;
      /**
       * @description What your own systems call the account: 1 to 255 visible ASCII characters, different from those of all others. Null removes it. Unchanged if omitted.
       * @example customer-4711
       */
      externalId?: string | null;
    };
    /** @description The deletion of an account. */
    AccountDeletion: {
      /**
       * @description The id of the account.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * Format: date-time
       * @description When the deletion was first requested.
       * @example 2026-11-21T09:30:00.123Z
       */
      requestedAt: string;
    };
    /** @description A plan that accounts can have. */
    Plan: {
      /**
       * @description The name of the plan.
       * @example gold
       */
      name: string;
      /**
       * @description The request limits of each account. Null: they are agreed with each account. Until that is done, the limits that the plan had last apply to it; a plan that never had any begins with 1,000 a minute and 100,000 a day.
       * @example {
       *       "perMinute": 600,
       *       "perDay": 50000
       *     }
       */
      limits: components['schemas']['Limits'] | null;
      /**
       * @description The bytes that an account may store. Null: as configured with `MAX_STORED_MB_PER_ACCOUNT` and others.
       * @example 10737418240
       */
      maxStoredBytes: number | null;
      /**
       * @description The endpoints that an account may have. Null: 50. An account that has more keeps them.
       * @example 20
       */
      maxEndpoints: number | null;
      /**
       * @description How many accounts have it.
       * @example 12
       */
      accounts: number;
      /**
       * @description Grows with every change. It is the `ETag`.
       * @example 7
       */
      version: number;
    };
    /** @description A page of a list, by name. */
    PlanPage: {
      data: components['schemas']['Plan'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    PutPlanBody: {
      /**
       * @description The request limits of each account. Null: they are agreed with each account. Until that is done, the limits that the plan had last apply to it; a plan that never had any begins with 1,000 a minute and 100,000 a day.
       * @example {
       *       "perMinute": 600,
       *       "perDay": 50000
       *     }
       */
      limits: components['schemas']['Limits'] | null;
      /**
       * @description The bytes that an account may store. Null: as configured with `MAX_STORED_MB_PER_ACCOUNT` and others.
       * @example 10737418240
       */
      maxStoredBytes?: number | null;
      /**
       * @description The endpoints that an account may have. Null: 50. An account that has more keeps them.
       * @example 20
       */
      maxEndpoints?: number | null;
    };
    CreatePortalLinkBody: {
      /**
       * @description What the link allows.
       * @example [
       *       "messages:read"
       *     ]
       */
      scopes: components['schemas']['Scope'][];
      /**
       * @description After how many seconds the link expires, and the visitor is signed out. Defaults to 3600.
       * @example 900
       */
      expiresInSeconds?: number;
    };
    /** @description A link that opens the portal once. */
    PortalLink: {
      /**
       * @description The id of the API key that the link is exchanged for.
       * @example key_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description Where to send the visitor. Whoever has it can open it, so keep it out of logs.
       * @example https://sluice.example.com/#link=slp_…
       */
      url: string;
      /**
       * @description What the link allows.
       * @example [
       *       "messages:send",
       *       "messages:read",
       *       "messages:consume",
       *       "account:manage"
       *     ]
       */
      scopes: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the link expires, and the visitor is signed out.
       * @example 2026-11-21T09:30:00.123Z
       */
      expiresAt: string;
    };
    OpenPortalLinkBody: {
      /**
       * @description What follows `#link=` in the URL of the link.
       * @example slp_7k2m
       */
      token: string;
    };
    /** @description A change by an operator. */
    AuditEntry: {
      /**
       * @description The id of the entry.
       * @example audit_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * Format: date-time
       * @description When it was changed.
       * @example 2026-11-21T09:30:00.123Z
       */
      at: string;
      /**
       * @description The name of the key that was used.
       * @example alice
       */
      operator: string;
      /**
       * @description What happened.
       * @example plan.changed
       */
      action: string;
      /**
       * @description What it happened to: the name of a plan, or the id of an account or a key.
       * @example gold
       */
      subject: string;
      /**
       * @description The account that it concerns. Null for plans.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      accountId: string | null;
      /**
       * @description The fields that were changed or deleted, as they were. Null for something new.
       * @example {
       *       "maxEndpoints": null
       *     }
       */
      before: Record<string, unknown> | null;
      /**
       * @description The same fields as they are now. Null for something deleted.
       * @example {
       *       "maxEndpoints": 20
       *     }
       */
      after: Record<string, unknown> | null;
    };
    /** @description A page of a list, newest first. */
    AuditEntryPage: {
      data: components['schemas']['AuditEntry'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    /** @description A rate limit window. It starts with the first request that it counts. */
    UsageWindow: {
      /** @example 60 */
      limit: number;
      /** @example 18 */
      used: number;
      /** @example 42 */
      remaining: number;
      /**
       * Format: date-time
       * @description When the window resets. For a window without requests, when it would reset if it started now.
       * @example 2026-11-21T09:30:00.123Z
       */
      resetsAt: string;
    };
    /** @description The progress of the messages of the account. */
    QueueBacklog: {
      /**
       * @description Messages that are due and wait for a worker, or for their next attempt. 10,000 means 10,000 or more.
       * @example 3
       */
      queued: number;
      /**
       * Format: date-time
       * @description When the oldest of them became due. Null if there is none.
       * @example 2026-11-21T09:30:00.123Z
       */
      oldestQueuedAt: string | null;
      /**
       * @description Messages to be delivered later. 10,000 means 10,000 or more.
       * @example 0
       */
      scheduled: number;
      /**
       * @description Deliveries per minute, averaged over the last five minutes.
       * @example 240
       */
      deliveredPerMinute: number;
    };
    /** @description The storage used by the messages of the account. */
    StoredBytes: {
      /**
       * @description The storage limit. Null if there is none.
       * @example 10737418240
       */
      limitBytes: number | null;
      /**
       * @description The storage used, including 256 bytes for each message. Up to a second old.
       * @example 52428800
       */
      usedBytes: number;
    };
    /** @description The rate limit windows, backlog and storage of an account. */
    Usage: {
      minute: components['schemas']['UsageWindow'];
      day: components['schemas']['UsageWindow'];
      messages: components['schemas']['QueueBacklog'];
      storage: components['schemas']['StoredBytes'];
    };
    ScheduledRequest: {
      at: number;
    };
    SimulateScheduleBody: {
      /**
       * @description The time of each request, in milliseconds since the start, in any order.
       * @example [
       *       {
       *         "at": 0
       *       },
       *       {
       *         "at": 250
       *       }
       *     ]
       */
      requests: components['schemas']['ScheduledRequest'][];
    };
    SimulateSteadyRateBody: {
      /**
       * @description Instead of `requests`: the number of evenly spread requests per minute.
       * @example 70
       */
      perMinute: number;
      /**
       * @description The duration in minutes. At most 1000000 requests in total.
       * @example 3
       */
      minutes: number;
    };
    SimulateBody: components['schemas']['SimulateScheduleBody'] | components['schemas']['SimulateSteadyRateBody'];
    /** @description The result of one request. */
    SimulatedRequest: {
      /**
       * @description Milliseconds since the start.
       * @example 0
       */
      at: number;
      /** @example true */
      admitted: boolean;
    };
    /** @description The result of a simulation. */
    Simulation: {
      /** @example 180 */
      admitted: number;
      /** @example 30 */
      refused: number;
      /**
       * @description Milliseconds since the start.
       * @example 51428
       */
      firstRefusedAt: number | null;
      /**
       * @example {
       *       "perMinute": 60,
       *       "perDay": 1000
       *     }
       */
      limits: components['schemas']['Limits'];
      /** @description The result of each of the `requests`, ordered by time. */
      requests?: components['schemas']['SimulatedRequest'][];
    };
    /** @description A temporary ban of an API key. */
    Ban: {
      /**
       * @description The id of the banned key.
       * @example key_01h455vb4pex5vsknk084sn02q
       */
      keyId: string;
      /**
       * @description The account of the key.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      accountId: string;
      /**
       * @description Why the key was banned.
       * @example 30 requests within a minute after the limit was exceeded
       */
      reason: string;
      /**
       * Format: date-time
       * @description When the ban started.
       * @example 2026-11-21T09:30:00.123Z
       */
      bannedAt: string;
      /**
       * Format: date-time
       * @description When the ban ends.
       * @example 2026-11-21T09:31:00.123Z
       */
      bannedUntil: string;
    };
    /** @description A page of a list, newest first. */
    BanPage: {
      data: components['schemas']['Ban'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    SendMessageBody: {
      /**
       * @description 1 to 262144 bytes of UTF-8, stored unchanged. U+0000 and lone surrogates are not allowed.
       * @example Hello, Sluice
       */
      message: string;
      /**
       * Format: date-time
       * @description When to deliver, up to 30 days ahead. Immediately if omitted or in the past.
       * @example 2026-11-21T12:00:00Z
       */
      deliverAt?: string;
      /**
       * @description What the message is about: words of `[A-Za-z0-9_-]` joined by dots. The first word must not be `sluice`.
       * @example order.paid
       */
      type?: string;
      /**
       * @description At most 50 strings for the consumer, by name. U+0000 and lone surrogates are not allowed.
       * @example {
       *       "region": "eu"
       *     }
       */
      metadata?: Record<string, string>;
      /**
       * @description Messages of the account with the same key are delivered one after another, in the order in which they were accepted: the next one begins once the one before is `delivered`, `failed` or `cancelled`. 1 to 128 visible ASCII characters.
       * @example customer-17
       */
      orderingKey?: string;
    };
    /** @description A message that was accepted. */
    AcceptedMessage: {
      /**
       * @description The id of the message.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The text, exactly as it was sent.
       * @example Hello, Sluice
       */
      message: string;
      /**
       * Format: date-time
       * @description When to deliver, if it was sent.
       * @example 2026-11-21T12:00:00.000Z
       */
      deliverAt?: string;
      /**
       * @description The type that was sent, if any.
       * @example order.paid
       */
      type?: string;
      /**
       * @description The metadata that was sent, if any.
       * @example {
       *       "region": "eu"
       *     }
       */
      metadata?: Record<string, string>;
      /**
       * @description The ordering key that was sent, if any.
       * @example customer-17
       */
      orderingKey?: string;
      /**
       * @description New messages are queued.
       * @constant
       */
      status: 'queued';
      /**
       * Format: date-time
       * @description When the message was accepted.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
    };
    /**
     * @description `queued`: waiting for a worker. `processing`: being delivered. `delivered`: delivered. `failed`: all attempts failed, see `failureReason`. `cancelled`: cancelled before delivery. `skipped`: no endpoint wants messages of its type.
     * @enum {string}
     */
    MessageStatus: 'queued' | 'processing' | 'delivered' | 'failed' | 'cancelled' | 'skipped';
    /** @description A message with its current state. */
    Message: {
      /**
       * @description The id of the message.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The text, exactly as it was sent.
       * @example Hello, Sluice
       */
      message: string;
      /**
       * Format: date-time
       * @description When to deliver, if it was sent.
       * @example 2026-11-21T12:00:00.000Z
       */
      deliverAt?: string;
      /**
       * @description The type that was sent, if any.
       * @example order.paid
       */
      type?: string;
      /**
       * @description The metadata that was sent, if any.
       * @example {
       *       "region": "eu"
       *     }
       */
      metadata?: Record<string, string>;
      /**
       * @description The ordering key that was sent, if any.
       * @example customer-17
       */
      orderingKey?: string;
      /** @example delivered */
      status: components['schemas']['MessageStatus'];
      /**
       * Format: date-time
       * @description When the message was accepted.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * @description The account's mode of delivery when the message was accepted.
       * @example handler
       */
      delivery: components['schemas']['DeliveryMode'];
      /**
       * Format: date-time
       * @description When the status last changed.
       * @example 2026-11-21T09:30:00.321Z
       */
      updatedAt: string;
      /**
       * @description Delivery attempts so far, including those before a retry.
       * @example 1
       */
      attempts: number;
      /**
       * @description Why the last attempt failed.
       * @example null
       */
      failureReason: string | null;
      /**
       * Format: date-time
       * @description When the next attempt is due, while the message waits for that: its `deliverAt`, the wait after a failed attempt, the `delaySeconds` of a lease that was given back, or the earliest of these of its endpoints. Otherwise null.
       * @example null
       */
      nextAttemptAt: string | null;
      /** @description True in a list with `preview`, if the text is longer than what `message` shows. Otherwise absent. */
      truncated?: boolean;
    };
    /** @description A page of a list, newest first. */
    MessagePage: {
      data: components['schemas']['Message'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    SendBatchBody: {
      /**
       * @description The messages. Either all or none are accepted.
       * @example [
       *       {
       *         "message": "Hello, Sluice"
       *       },
       *       {
       *         "message": "Hello again"
       *       }
       *     ]
       */
      messages: components['schemas']['SendMessageBody'][];
    };
    /** @description The messages of a batch, in the order they were sent. */
    AcceptedBatch: {
      data: components['schemas']['AcceptedMessage'][];
    };
    RetryFailedBody: {
      /**
       * @description Only messages of this type. `order.*` means all types that begin with `order.`.
       * @example order.*
       */
      type?: string;
      /**
       * Format: date-time
       * @description The start of the period, inclusive.
       * @example 2026-11-21T09:00:00Z
       */
      since: string;
      /**
       * Format: date-time
       * @description The end of the period, exclusive.
       * @example 2026-11-21T10:00:00Z
       */
      until: string;
    };
    /** @description The result of retrying failed messages. */
    Retried: {
      /**
       * @description The number of messages that were queued again.
       * @example 17
       */
      count: number;
    };
    CancelQueuedBody: {
      /**
       * @description Only messages of this type. `order.*` means all types that begin with `order.`.
       * @example order.*
       */
      type?: string;
      /**
       * Format: date-time
       * @description Only messages that were accepted at this time or later.
       * @example 2026-11-21T09:00:00Z
       */
      since?: string;
      /**
       * Format: date-time
       * @description Only messages that were accepted before this time.
       * @example 2026-11-21T10:00:00Z
       */
      until?: string;
    };
    /** @description The result of cancelling queued messages. */
    Cancelled: {
      /**
       * @description The number of messages that were cancelled.
       * @example 17
       */
      count: number;
    };
    /** @description A delivery attempt. */
    Attempt: {
      /**
       * @description Starts at 1 and continues after a retry of the message.
       * @example 1
       */
      number: number;
      /**
       * @description What the message was delivered to: `handler`: a handler of the built-in worker. `worker`: a BullMQ worker of another program. `pull`: a client that leased it. Otherwise the id of an endpoint.
       * @example handler
       */
      target: string;
      /**
       * Format: date-time
       * @description When the attempt started.
       * @example 2026-11-21T09:30:00.123Z
       */
      startedAt: string;
      /**
       * @description The duration in milliseconds. Null while the attempt is running or if its worker was lost.
       * @example 170
       */
      durationMs: number | null;
      /**
       * @description `running`: in progress. `delivered`: succeeded. `retried`: failed, and another attempt follows. `failed`: failed, and no attempt follows. `lost`: the worker stopped responding, and another one took over.
       * @example delivered
       * @enum {string}
       */
      outcome: 'running' | 'delivered' | 'retried' | 'failed' | 'lost';
      /**
       * @description Why the attempt failed. Null if it did not.
       * @example null
       */
      error: string | null;
      /**
       * @description The HTTP status with which an endpoint responded. Null without a response.
       * @example null
       */
      responseStatus: number | null;
      /**
       * @description The first KiB of the response of an endpoint. Null without a response.
       * @example null
       */
      responseBody: string | null;
    };
    /** @description The delivery attempts of a message, oldest first. */
    Attempts: {
      data: components['schemas']['Attempt'][];
    };
    LeaseBody: {
      /**
       * @description How many messages to lease at most. 10 if omitted.
       * @example 10
       */
      max?: number;
      /**
       * @description How long the lease lasts, unless it is extended. 30 if omitted.
       * @example 30
       */
      seconds?: number;
      /**
       * @description How many seconds to wait while no message is available. 0 if omitted.
       * @example 20
       */
      wait?: number;
    };
    /** @description A message that was leased. */
    LeasedMessage: {
      /**
       * @description The id of the message.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description The text, exactly as it was sent.
       * @example Hello, Sluice
       */
      message: string;
      /**
       * Format: date-time
       * @description When to deliver, if it was sent.
       * @example 2026-11-21T12:00:00.000Z
       */
      deliverAt?: string;
      /**
       * @description The type that was sent, if any.
       * @example order.paid
       */
      type?: string;
      /**
       * @description The metadata that was sent, if any.
       * @example {
       *       "region": "eu"
       *     }
       */
      metadata?: Record<string, string>;
      /**
       * @description The ordering key that was sent, if any.
       * @example customer-17
       */
      orderingKey?: string;
      /**
       * Format: date-time
       * @description When the message was accepted.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * @description The number of this attempt, over all retries.
       * @example 1
       */
      attempt: number;
      /**
       * @description Identifies the lease of the message.
       * @example 1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b
       */
      leaseToken: string;
      /**
       * Format: date-time
       * @description When the lease expires.
       * @example 2026-11-21T09:30:30.123Z
       */
      leaseExpiresAt: string;
    };
    /** @description Messages that were leased. */
    LeasedMessages: {
      data: components['schemas']['LeasedMessage'][];
      /**
       * @description Present if no message was available because the account is paused.
       * @constant
       */
      paused?: true;
    };
    AcknowledgedLease: {
      /**
       * @description The id of the message.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description Identifies the lease of the message.
       * @example 1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b
       */
      leaseToken: string;
    };
    AcknowledgeAllBody: {
      /**
       * @description The leases of the messages to acknowledge.
       * @example [
       *       {
       *         "id": "msg_01h455vb4pex5vsknk084sn02q",
       *         "leaseToken": "1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b"
       *       }
       *     ]
       */
      leases: components['schemas']['AcknowledgedLease'][];
    };
    /** @description What became of a message. */
    Acknowledgement: {
      /**
       * @description The id, as it was sent.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description `lease_lost`: the lease had expired, or was never one of this message.
       * @example acknowledged
       * @enum {string}
       */
      result: 'acknowledged' | 'lease_lost';
    };
    /** @description What became of each message, in the order in which they were sent. */
    Acknowledgements: {
      data: components['schemas']['Acknowledgement'][];
    };
    AcknowledgeBody: {
      /**
       * @description Identifies the lease of the message.
       * @example 1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b
       */
      leaseToken: string;
    };
    RejectBody: {
      /**
       * @description When the message is available again. As the settings of the service say if omitted.
       * @example 60
       */
      delaySeconds?: number;
      /**
       * @description Why the attempt failed: the `failureReason` of the message.
       * @example no such address
       */
      reason?: string;
      /**
       * @description Identifies the lease of the message.
       * @example 1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b
       */
      leaseToken: string;
    };
    ExtendBody: {
      /**
       * @description How long the lease lasts from now on.
       * @example 30
       */
      seconds: number;
      /**
       * @description Identifies the lease of the message.
       * @example 1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b
       */
      leaseToken: string;
    };
    /** @description An extended lease. */
    ExtendedLease: {
      /**
       * Format: date-time
       * @description When the lease expires.
       * @example 2026-11-21T09:30:30.123Z
       */
      leaseExpiresAt: string;
    };
    CreateEndpointBody: {
      /**
       * @description Where messages are posted: `https` or `http`, without user name and password. Its host must be public: requests to private addresses are never sent.
       * @example https://example.com/hooks
       */
      url: string;
      /**
       * @description What it is for: at most 200 characters. Null removes it.
       * @example orders
       */
      description?: string | null;
      /**
       * @description Whether it gets new messages. A new endpoint does by default.
       * @example true
       */
      enabled?: boolean;
      /**
       * @description The maximum number of requests per second. 0 or null for no limit, the default.
       * @example 100
       */
      rateLimitPerSecond?: number | null;
      /**
       * @description Which messages it gets: types like `order.paid`, or `order.*` for every type that begins with `order.`. None or null: all, also those without a type, as `*` does. Operational events only reach endpoints that name them, such as `sluice.message.failed` or `sluice.*`.
       * @example [
       *       "order.*",
       *       "invoice.paid"
       *     ]
       */
      types?: string[] | null;
      /**
       * @description Headers that are sent along, by name. Their values are stored encrypted and never shown. Those that frame or sign the request are not allowed: `host`, `content-*`, `webhook-*`, `connection` and the like. Null removes them.
       * @example {
       *       "Authorization": "Bearer a-token-of-yours"
       *     }
       */
      headers?: Record<string, string> | null;
    };
    /**
     * @description `by_account`: with `enabled`. `gone`: it answered 410. `failing`: for days, every attempt has failed.
     * @enum {string}
     */
    DisabledReason: 'by_account' | 'gone' | 'failing';
    /** @description A new endpoint with its secret, which is shown only once. */
    IssuedEndpoint: {
      /**
       * @description The id of the endpoint.
       * @example ep_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description Where messages are posted.
       * @example https://example.com/hooks
       */
      url: string;
      /**
       * @description What it is for. Empty if not given.
       * @example orders
       */
      description: string;
      /**
       * @description The maximum number of requests per second. 0 for no limit.
       * @example 0
       */
      rateLimitPerSecond: number;
      /**
       * @description The types of messages that it gets. Empty for all.
       * @example [
       *       "order.*"
       *     ]
       */
      types: string[];
      /**
       * @description The names of the headers that are sent along. Their values are never shown.
       * @example [
       *       "Authorization"
       *     ]
       */
      headerNames: string[];
      /**
       * @description Whether it gets new messages.
       * @example true
       */
      enabled: boolean;
      /**
       * Format: date-time
       * @description When the endpoint was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When it was disabled. Null while it is enabled.
       * @example null
       */
      disabledAt: string | null;
      /**
       * @description Why it was disabled. Null while it is enabled.
       * @example null
       */
      disabledReason: components['schemas']['DisabledReason'] | null;
      /**
       * Format: date-time
       * @description The first failed attempt since the last successful one, or since a day without any. Null if there is none.
       * @example null
       */
      failingSince: string | null;
      /**
       * @description Verifies the signatures. It cannot be retrieved again.
       * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
       */
      secret: string;
    };
    /** @description A URL that messages are posted to. */
    Endpoint: {
      /**
       * @description The id of the endpoint.
       * @example ep_01h455vb4pex5vsknk084sn02q
       */
      id: string;
      /**
       * @description Where messages are posted.
       * @example https://example.com/hooks
       */
      url: string;
      /**
       * @description What it is for. Empty if not given.
       * @example orders
       */
      description: string;
      /**
       * @description The maximum number of requests per second. 0 for no limit.
       * @example 0
       */
      rateLimitPerSecond: number;
      /**
       * @description The types of messages that it gets. Empty for all.
       * @example [
       *       "order.*"
       *     ]
       */
      types: string[];
      /**
       * @description The names of the headers that are sent along. Their values are never shown.
       * @example [
       *       "Authorization"
       *     ]
       */
      headerNames: string[];
      /**
       * @description Whether it gets new messages.
       * @example true
       */
      enabled: boolean;
      /**
       * Format: date-time
       * @description When the endpoint was created.
       * @example 2026-11-21T09:30:00.123Z
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When it was disabled. Null while it is enabled.
       * @example null
       */
      disabledAt: string | null;
      /**
       * @description Why it was disabled. Null while it is enabled.
       * @example null
       */
      disabledReason: components['schemas']['DisabledReason'] | null;
      /**
       * Format: date-time
       * @description The first failed attempt since the last successful one, or since a day without any. Null if there is none.
       * @example null
       */
      failingSince: string | null;
    };
    /** @description A page of a list, newest first. */
    EndpointPage: {
      data: components['schemas']['Endpoint'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    ChangeEndpointBody: {
      /**
       * @description Where messages are posted: `https` or `http`, without user name and password. Its host must be public: requests to private addresses are never sent.
       * @example https://example.com/hooks
       */
      url?: string;
      /**
       * @description What it is for: at most 200 characters. Null removes it.
       * @example orders
       */
      description?: string | null;
      /**
       * @description Whether it gets new messages. A new endpoint does by default.
       * @example true
       */
      enabled?: boolean;
      /**
       * @description The maximum number of requests per second. 0 or null for no limit, the default.
       * @example 100
       */
      rateLimitPerSecond?: number | null;
      /**
       * @description Which messages it gets: types like `order.paid`, or `order.*` for every type that begins with `order.`. None or null: all, also those without a type, as `*` does. Operational events only reach endpoints that name them, such as `sluice.message.failed` or `sluice.*`.
       * @example [
       *       "order.*",
       *       "invoice.paid"
       *     ]
       */
      types?: string[] | null;
      /**
       * @description Headers that are sent along, by name. Their values are stored encrypted and never shown. Those that frame or sign the request are not allowed: `host`, `content-*`, `webhook-*`, `connection` and the like. Null removes them.
       * @example {
       *       "Authorization": "Bearer a-token-of-yours"
       *     }
       */
      headers?: Record<string, string> | null;
    };
    RotateSecretBody: {
      /**
       * @description Seconds for which the old secret signs as well, so that receivers can change theirs. Defaults to 0.
       * @example 86400
       */
      graceSeconds?: number;
    };
    /** @description The new secret of an endpoint, which is shown only once. */
    IssuedSecret: {
      /**
       * @description Verifies the signatures. It cannot be retrieved again.
       * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
       */
      secret: string;
    };
    /** @description What an endpoint answered to a test. */
    TestResult: {
      /**
       * @description The HTTP status of the answer. Null if there was none, see `error`.
       * @example 204
       */
      status: number | null;
      /**
       * @description How long it took, in milliseconds.
       * @example 87
       */
      durationMs: number;
      /**
       * @description The first KiB of the answer.
       * @example
       */
      body: string;
      /**
       * @description Why there was no answer.
       * @example null
       */
      error: string | null;
    };
    ReplayBody: {
      /**
       * Format: date-time
       * @description The start of the period, inclusive.
       * @example 2026-11-21T09:00:00Z
       */
      since: string;
      /**
       * Format: date-time
       * @description The end of the period, exclusive. Defaults to now.
       * @example 2026-11-21T10:00:00Z
       */
      until?: string;
    };
    /** @description The result of replaying messages. */
    Replayed: {
      /**
       * @description How many messages will be posted.
       * @example 17
       */
      count: number;
    };
    /**
     * @description `pending`: waits for an attempt, or one is being made. `delivered`: the endpoint has it. `failed`: its attempts were used up, or while it was waiting, the endpoint was disabled or deleted, or its types were changed.
     * @enum {string}
     */
    EndpointDeliveryStatus: 'pending' | 'delivered' | 'failed';
    /** @description The delivery of a message to an endpoint, with what the endpoint is called. */
    MessageDelivery: {
      /**
       * @description The id of the message.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      messageId: string;
      /**
       * @description The id of the endpoint.
       * @example ep_01h455vb4pex5vsknk084sn02q
       */
      endpointId: string;
      /** @example pending */
      status: components['schemas']['EndpointDeliveryStatus'];
      /**
       * @description Attempts to deliver it to the endpoint so far.
       * @example 1
       */
      attempts: number;
      /**
       * Format: date-time
       * @description When the next attempt is due. Null if that is now, if it waits for another message, or if there is none.
       * @example 2026-11-21T09:30:00.123Z
       */
      nextAttemptAt: string | null;
      /**
       * Format: date-time
       * @description When the last attempt that has ended began. Null if there is none.
       * @example 2026-11-21T09:30:00.123Z
       */
      lastAttemptAt: string | null;
      /**
       * @description How long that took, in milliseconds. Null if its worker was lost.
       * @example 170
       */
      durationMs: number | null;
      /**
       * @description The HTTP status with which the endpoint responded to it. Null without a response.
       * @example 503
       */
      responseStatus: number | null;
      /**
       * @description The first KiB of that response. Null without a response.
       * @example Try again later.
       */
      responseBody: string | null;
      /**
       * @description Why it has not been delivered, if an attempt failed. Otherwise null.
       * @example HTTP 503
       */
      error: string | null;
      /**
       * @description Where the endpoint is. Null if it was deleted, or if the key lacks `account:manage`.
       * @example https://example.com/hooks
       */
      url: string | null;
      /**
       * @description What the endpoint is for. Null like `url`.
       * @example orders
       */
      description: string | null;
    };
    /** @description The deliveries of a message, the oldest endpoint first. */
    MessageDeliveries: {
      data: components['schemas']['MessageDelivery'][];
    };
    /** @description The delivery of a message to an endpoint. */
    EndpointDelivery: {
      /**
       * @description The id of the message.
       * @example msg_01h455vb4pex5vsknk084sn02q
       */
      messageId: string;
      /**
       * @description The id of the endpoint.
       * @example ep_01h455vb4pex5vsknk084sn02q
       */
      endpointId: string;
      /** @example pending */
      status: components['schemas']['EndpointDeliveryStatus'];
      /**
       * @description Attempts to deliver it to the endpoint so far.
       * @example 1
       */
      attempts: number;
      /**
       * Format: date-time
       * @description When the next attempt is due. Null if that is now, if it waits for another message, or if there is none.
       * @example 2026-11-21T09:30:00.123Z
       */
      nextAttemptAt: string | null;
      /**
       * Format: date-time
       * @description When the last attempt that has ended began. Null if there is none.
       * @example 2026-11-21T09:30:00.123Z
       */
      lastAttemptAt: string | null;
      /**
       * @description How long that took, in milliseconds. Null if its worker was lost.
       * @example 170
       */
      durationMs: number | null;
      /**
       * @description The HTTP status with which the endpoint responded to it. Null without a response.
       * @example 503
       */
      responseStatus: number | null;
      /**
       * @description The first KiB of that response. Null without a response.
       * @example Try again later.
       */
      responseBody: string | null;
      /**
       * @description Why it has not been delivered, if an attempt failed. Otherwise null.
       * @example HTTP 503
       */
      error: string | null;
    };
    /** @description A page of a list, newest first. */
    EndpointDeliveryPage: {
      data: components['schemas']['EndpointDelivery'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx
       */
      nextCursor: string | null;
    };
    /**
     * @description The length of the periods of a usage history.
     * @enum {string}
     */
    UsagePeriodLength: 'hour' | 'day';
    /** @description What was accepted in an hour or a day. Messages that are neither delivered, failed nor cancelled are still open. */
    UsagePeriod: {
      /**
       * Format: date-time
       * @description When the period starts, in UTC.
       * @example 2026-11-21T09:00:00.000Z
       */
      start: string;
      /**
       * @description Messages that were accepted.
       * @example 960
       */
      accepted: number;
      /**
       * @description The size of their texts, types, ordering keys and metadata (as JSON) in bytes of UTF-8.
       * @example 48211
       */
      acceptedBytes: number;
      /**
       * @description How many of them are delivered by now.
       * @example 951
       */
      delivered: number;
      /**
       * @description How many of them have failed.
       * @example 7
       */
      failed: number;
      /**
       * @description How many of them were cancelled.
       * @example 2
       */
      cancelled: number;
    };
    /** @description A page of a history, oldest first. */
    UsagePeriodPage: {
      data: components['schemas']['UsagePeriod'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example MTc5NTI2MjQwMDAwMCA
       */
      nextCursor: string | null;
    };
    /** @description What was accepted from an account in an hour or a day. */
    AccountUsagePeriod: {
      /**
       * Format: date-time
       * @description When the period starts, in UTC.
       * @example 2026-11-21T09:00:00.000Z
       */
      start: string;
      /**
       * @description The id of the account, which may no longer exist.
       * @example acct_01h455vb4pex5vsknk084sn02q
       */
      accountId: string;
      /**
       * @description The id that the operator has given to the account. Null if there is none.
       * @example customer-4711
       */
      externalId: string | null;
      /**
       * @description Messages that were accepted.
       * @example 960
       */
      accepted: number;
      /**
       * @description The size of their texts, types, ordering keys and metadata (as JSON) in bytes of UTF-8.
       * @example 48211
       */
      acceptedBytes: number;
      /**
       * @description How many of them are delivered by now.
       * @example 951
       */
      delivered: number;
      /**
       * @description How many of them have failed.
       * @example 7
       */
      failed: number;
      /**
       * @description How many of them were cancelled.
       * @example 2
       */
      cancelled: number;
    };
    /** @description A page of a history, oldest first. */
    AccountUsagePeriodPage: {
      data: components['schemas']['AccountUsagePeriod'][];
      /**
       * @description Send it as `cursor` to get the next page. Null on the last page.
       * @example MTc5NTI2MjQwMDAwMCA
       */
      nextCursor: string | null;
    };
  };
}

/** The error codes of each status. */
export interface ErrorCodes {
  400: 'batch_exceeds_limit' | 'invalid_content_type' | 'invalid_json' | 'malformed_request' | 'validation_failed';
  401: 'unauthorized';
  403: 'account_suspended' | 'insufficient_scope' | 'signup_closed' | 'webhooks_disabled';
  404:
    | 'account_not_found'
    | 'api_key_not_found'
    | 'ban_not_found'
    | 'endpoint_not_found'
    | 'message_not_found'
    | 'not_found'
    | 'plan_not_found'
    | 'portal_link_not_found';
  405: 'method_not_allowed';
  408: 'request_timeout';
  409:
    | 'endpoint_disabled'
    | 'external_id_taken'
    | 'idempotency_key_in_use'
    | 'invalid_transition'
    | 'lease_lost'
    | 'plan_in_use'
    | 'too_many_endpoints'
    | 'too_many_keys'
    | 'too_many_streams';
  412: 'plan_changed';
  413: 'body_too_large';
  415: 'unsupported_encoding';
  422: 'idempotency_key_reused';
  429: 'api_key_banned' | 'rate_limit_exceeded';
  431: 'headers_too_large';
  500: 'internal_error';
  503: 'unavailable';
  507: 'storage_full';
}
