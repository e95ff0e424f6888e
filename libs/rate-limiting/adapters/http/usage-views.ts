import type { Limits } from '#accounts/index.js';
import type { Backlog, MessageUsage, Storage } from '#messages/index.js';
import { nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import type { Simulation } from '../../simulate.js';
import type { WindowName } from '../../windows.js';

interface WindowView {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: Date;
}

export interface UsageView extends Readonly<Record<WindowName, WindowView>>, MessageUsage {}

export interface SimulationView extends Simulation {
  readonly limits: Limits;
  readonly requests?: readonly { readonly at: number; readonly admitted: boolean }[];
}

const COUNT = { type: 'integer', minimum: 0 };
const AT = { ...COUNT, description: 'Milliseconds from the start.' };

const WINDOW = viewModel<WindowView>('Window', 'A window of requests, anchored at the first that it counts.', {
  limit: { ...COUNT, examples: [60] },
  used: { ...COUNT, examples: [18] },
  remaining: { ...COUNT, examples: [42] },
  resetsAt: time('When it resets; of a window that has counted nothing yet, when it would.'),
});

const BACKLOG = viewModel<Backlog>('Backlog', 'How the messages of the account move.', {
  queued: { ...COUNT, description: 'Due, and waiting for a worker; 10,000 means that or more.', examples: [3] },
  oldestQueuedAt: nullable(time('Since when the one waits that is due for longest; null when none does.')),
  scheduled: { ...COUNT, description: 'For later; 10,000 means that or more.', examples: [0] },
  deliveredPerMinute: { ...COUNT, description: 'Delivered in a minute, by the last five minutes.', examples: [240] },
});

const STORAGE = viewModel<Storage>('Storage', 'What the stored messages of the account take up.', {
  limitBytes: nullable({
    ...COUNT,
    description: 'As much as it may be; null is no limit.',
    examples: [10_737_418_240],
  }),
  usedBytes: {
    ...COUNT,
    description: 'As of a second ago, 256 bytes for each message included.',
    examples: [52_428_800],
  },
});

export const USAGE = viewModel<UsageView>('Usage', 'Both windows of an account, and what is known of its messages.', {
  minute: WINDOW,
  day: WINDOW,
  messages: BACKLOG,
  storage: STORAGE,
});

export const SIMULATION = viewModel<Required<SimulationView>>(
  'Simulation',
  'Which requests would pass.',
  {
    admitted: { ...COUNT, examples: [180] },
    refused: { ...COUNT, examples: [30] },
    firstRefusedAt: nullable({ ...AT, examples: [51_428] }),
    limits: {
      type: 'object',
      description: 'The limits of the account.',
      properties: { perMinute: { ...COUNT, examples: [60] }, perDay: { ...COUNT, examples: [1_000] } },
      required: ['perMinute', 'perDay'],
    },
    requests: {
      type: 'array',
      description: 'Each of the `requests` that were sent, by its time.',
      items: {
        type: 'object',
        properties: { at: { ...AT, examples: [0] }, admitted: { type: 'boolean', examples: [true] } },
        required: ['at', 'admitted'],
      },
    },
  },
  ['requests'],
);
