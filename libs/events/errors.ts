import type { ErrorTable } from '#platform/http/errors.js';

export const EVENTS_ERRORS = {
  too_many_streams: {
    status: 409,
    title: 'The account has too many event streams',
    cause:
      'The account has its maximum number of streams open, over all of its keys. The stream of a client that has vanished without closing its connection stays open for a while.',
    cure: 'Close streams that are no longer used. Let one stream serve all parts of a program.',
    example: 'An account can have at most 5 open event streams. Close one first.',
  },
} satisfies ErrorTable;
