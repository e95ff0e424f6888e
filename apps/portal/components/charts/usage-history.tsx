import { useState } from 'preact/hooks';
import type { UsagePeriod } from '#client/index.js';
import { Choice } from '../choice.js';
import { HistoryChart } from './history-chart.js';
import { Card, Skeleton } from '../parts.js';
import { Problem } from '../problem.js';
import { call } from '../../session/connection.js';
import { useResource } from '../../loading/hooks.js';

const HOUR_MS = 3_600_000;

const SPANS = [
  { value: '24 hours', label: 'the last 24 hours', by: 'hour', periods: 24, ms: HOUR_MS },
  { value: '48 hours', label: 'the last 48 hours', by: 'hour', periods: 48, ms: HOUR_MS },
  { value: '30 days', label: 'the last 30 days', by: 'day', periods: 30, ms: 24 * HOUR_MS },
] as const;

type Span = (typeof SPANS)[number];

const NOTHING = { accepted: 0, acceptedBytes: 0, delivered: 0, failed: 0, cancelled: 0 };

interface UsageHistoryProps {
  /** For operators: whose. Without it, it is the account of the key. */
  readonly accountId?: string;
  /** Loads it again when it changes. */
  readonly round?: number;
}

/** A chart of what was accepted. */
export function UsageHistory({ accountId, round = 0 }: UsageHistoryProps) {
  const [chosen, choose] = useState<Span['value']>(SPANS[0].value);
  const span = SPANS.find(({ value }) => value === chosen) ?? SPANS[0];
  const { data, error, isLoading, reload } = useResource(
    () => loadHistory(span, accountId),
    [accountId, chosen, String(round)],
  );
  return (
    <Card title="Messages over time">
      <Choice label="Time" value={chosen} choices={SPANS} onChange={choose} />
      <Problem error={error} onRetry={reload} />
      {data === null ? isLoading && <Skeleton rows={4} /> : <HistoryChart by={span.by} periods={data} />}
    </Card>
  );
}

/** With the empty periods, which the API leaves out. */
export async function loadHistory({ by, periods, ms }: Span = SPANS[0], accountId?: string): Promise<UsagePeriod[]> {
  const last = Math.floor(Date.now() / ms) * ms;
  const starts = Array.from({ length: periods }, (_, index) =>
    new Date(last - (periods - 1 - index) * ms).toISOString(),
  );
  const query = { by, since: starts[0], limit: 100 };
  const { data } = await call(({ account, admin }) =>
    (accountId === undefined ? account.usageHistory(query) : admin.accounts.usageHistory(accountId, query)).page(),
  );
  return starts.map((start) => data.find((period) => period.start === start) ?? { start, ...NOTHING });
}
