import type { Message } from '#client/index.js';
import { age, time, type Output } from './output.js';
import type { Column } from './table.js';
import { visible } from './visible.js';

type Status = Message['status'];

export const STATUSES = [
  'queued',
  'processing',
  'delivered',
  'failed',
  'cancelled',
  'skipped',
] as const satisfies readonly Status[];

const COLORS = {
  queued: 'yellow',
  processing: 'cyan',
  delivered: 'green',
  failed: 'red',
  cancelled: 'gray',
  skipped: 'gray',
} as const;

function colorOf(status: string): (typeof COLORS)[Status] | 'reset' {
  return status in COLORS ? COLORS[status as Status] : 'reset';
}

export const MESSAGE_COLUMNS: readonly Column<Message>[] = [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status, ({ status }) => colorOf(status)],
  ['CREATED', ({ createdAt }) => time(createdAt), undefined, { short: ['AGE', ({ createdAt }) => age(createdAt)] }],
  ['ATTEMPTS', ({ attempts }) => String(attempts), undefined, { isOptional: true }],
  ['TYPE', ({ type }) => type ?? '-', undefined, { isOptional: true }],
  ['MESSAGE', ({ message }) => message, undefined, { minWidth: 24 }],
];

/** A message in one line. */
export function messageLine(
  output: Output,
  { id, status, type, message }: Pick<Message, 'id' | 'status' | 'type' | 'message'>,
): string {
  return output.isTerminal
    ? `${visible(id)}  ${output.style(colorOf(status), visible(status).padEnd(10))}  ${visible([type, message].filter(Boolean).join('  '))}`
    : [id, status, type ?? '-', message].map(visible).join('\t');
}
