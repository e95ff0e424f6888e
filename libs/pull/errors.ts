import type { ErrorTable } from '#platform/http/errors.js';

export const PULL_ERRORS = {
  lease_lost: {
    status: 409,
    title: 'The lease of the message was lost',
    cause:
      'The lease has expired, or the token is not that of a lease of this message. Another consumer may have the message by now. Nothing was changed.',
    cure: 'Lease messages again. If leases expire before the work is done, lease for longer, lease fewer messages at once, or extend the lease.',
    example: 'The lease of this message has expired, or the leaseToken is wrong. Lease messages again.',
  },
} satisfies ErrorTable;
