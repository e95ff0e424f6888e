import type { Backlog, MessageUsage, Storage } from '#messages/index.js';
import { foreignModel, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import type { Simulation } from '../../domain/simulate.js';
import type { Limits } from '#kernel/limits.js';
import type { WindowName } from '../../domain/windows.js';

interface WindowView {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: Date;
}

export interface UsageView extends Readonly<Record<WindowName, WindowView>>, MessageUsage {}

export interface SimulatedRequest {
  readonly at: number;
  readonly admitted: boolean;
}

export interface SimulationView extends Simulation {
  readonly limits: Limits;
  readonly requests?: readonly SimulatedRequest[];
}

const COUNT = { type: 'integer', minimum: 0 };
const AT = { ...COUNT, description: 'Milliseconds since the start.' };

const WINDOW = viewModel<WindowView>(
  'UsageWindow',
  'A rate limit window. It starts with the first request that it counts.',
  {
    limit: { ...COUNT, examples: [60] },
    used: { ...COUNT, examples: [18] },
    remaining: { ...COUNT, examples: [42] },
    resetsAt: time('When the window resets. For a window without requests, when it would reset if it started now.'),
  },
);

const BACKLOG = viewModel<Backlog>('QueueBacklog', 'The progress of the messages of the account.', {
  queued: {
    ...COUNT,
    description: 'Messages that are due and wait for a worker, or for their next attempt. 10,000 means 10,000 or more.',
    examples: [3],
  },
  oldestQueuedAt: nullable(time('When the oldest of them became due. Null if there is none.')),
  scheduled: { ...COUNT, description: 'Messages to be delivered later. 10,000 means 10,000 or more.', examples: [0] },
  deliveredPerMinute: {
    ...COUNT,
    description: 'Deliveries per minute, averaged over the last five minutes.',
    examples: [240],
  },
});

const STORAGE = viewModel<Storage>('StoredBytes', 'The storage used by the messages of the account.', {
  limitBytes: nullable({
    ...COUNT,
    description: 'The storage limit. Null if there is none.',
    examples: [10_737_418_240],
  }),
  usedBytes: {
    ...COUNT,
    description: 'The storage used, including 256 bytes for each message. Up to a second old.',
    examples: [52_428_800],
  },
});

export const USAGE = viewModel<UsageView>('Usage', 'The rate limit windows, backlog and storage of an account.', {
  minute: WINDOW,
  day: WINDOW,
  messages: BACKLOG,
  storage: STORAGE,
});

const SIMULATED_REQUEST = viewModel<SimulatedRequest>('SimulatedRequest', 'The result of one request.', {
  at: { ...AT, examples: [0] },
  admitted: { type: 'boolean', examples: [true] },
});

export const SIMULATION = viewModel<Required<SimulationView>>(
  'Simulation',
  'The result of a simulation.',
  {
    admitted: { ...COUNT, examples: [180] },
    refused: { ...COUNT, examples: [30] },
    firstRefusedAt: nullable({ ...AT, examples: [51_428] }),
    limits: foreignModel('Limits', { perMinute: 60, perDay: 1_000 }),
    requests: {
      type: 'array',
      description: 'The result of each of the `requests`, ordered by time.',
      items: SIMULATED_REQUEST,
    },
  },
  ['requests'],
);
