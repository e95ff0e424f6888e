import type { PageView } from '#platform/http/body/paging.js';
import { idOf, nullable, time, viewModel, type Model } from '#platform/http/openapi/schema.js';
import type { AccountUsagePeriod } from '../../application/usage-history.js';
import type { UsagePeriod } from '../../domain/usage-period.js';

const COUNT = { type: 'integer', minimum: 0 };

const COUNTS = {
  accepted: { ...COUNT, description: 'Messages that were accepted.', examples: [960] },
  acceptedBytes: {
    ...COUNT,
    description: 'The size of their texts, types, ordering keys and metadata (as JSON) in bytes of UTF-8.',
    examples: [48_211],
  },
  delivered: { ...COUNT, description: 'How many of them are delivered by now.', examples: [951] },
  failed: { ...COUNT, description: 'How many of them have failed.', examples: [7] },
  cancelled: { ...COUNT, description: 'How many of them were cancelled.', examples: [2] },
};

const START = time('When the period starts, in UTC.', '2026-11-21T09:00:00.000Z');

const USAGE_PERIOD = viewModel<UsagePeriod>(
  'UsagePeriod',
  'What was accepted in an hour or a day. Messages that are neither delivered, failed nor cancelled are still open.',
  { start: START, ...COUNTS },
);

const ACCOUNT_USAGE_PERIOD = viewModel<AccountUsagePeriod>(
  'AccountUsagePeriod',
  'What was accepted from an account in an hour or a day.',
  {
    start: START,
    accountId: idOf('acct', 'The id of the account, which may no longer exist.'),
    externalId: nullable({
      type: 'string',
      description: 'The id that the operator has given to the account. Null if there is none.',
      examples: ['customer-4711'],
    }),
    ...COUNTS,
  },
);

/** Unlike other lists, the oldest come first. */
function historyModel(item: Model): Model {
  return viewModel<PageView<unknown>>(`${item.name}Page`, 'A page of a history, oldest first.', {
    data: { type: 'array', maxItems: 100, items: item },
    nextCursor: nullable({
      type: 'string',
      description: 'Send it as `cursor` to get the next page. Null on the last page.',
      examples: ['MTc5NTI2MjQwMDAwMCA'],
    }),
  });
}

export const HISTORY = historyModel(USAGE_PERIOD);
export const HISTORY_OF_ALL = historyModel(ACCOUNT_USAGE_PERIOD);

export const COLUMNS = ['start', 'accepted', 'acceptedBytes', 'delivered', 'failed', 'cancelled'] as const;
export const COLUMNS_OF_ALL = ['start', 'accountId', 'externalId', ...COLUMNS.slice(1)] as (keyof AccountUsagePeriod)[];
