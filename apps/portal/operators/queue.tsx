import { Icon } from '../components/icon.js';
import { Loaded } from '../components/loaded.js';
import { Badge, Card, Fact, Facts, Figure, Page } from '../components/parts.js';
import { call } from '../session/connection.js';
import { formatDuration, formatNumber, formatUpTo } from '../text/format.js';
import { useRefresh, useResource } from '../loading/hooks.js';
import { readQueue, type Readiness, type Samples } from './metrics.js';

/** The process queries the database no more often. */
const REFRESH_MS = 5_000;
/** Up to here, the process counts. */
const MAX_JOBS = 100_000;
const MAX_ENTRIES = 10_000;

const STATES = [
  { state: 'active', title: 'Active', text: 'being delivered' },
  { state: 'delayed', title: 'Delayed', text: 'for later, or between two attempts' },
  { state: 'failed', title: 'Failed', text: 'kept to be looked at' },
  { state: 'completed', title: 'Completed', text: 'kept for a while' },
];

export function QueueView() {
  const queue = useResource(() => call(readQueue), []);
  useRefresh(queue, REFRESH_MS);
  return (
    <Page
      title="Queue"
      lead="Jobs of all accounts, and messages on their way to the queue. Refreshed while you look."
      actions={
        <a class="button plain" href="/queues" target="_blank" rel="noreferrer">
          <Icon name="queue" />
          <span>Look at the jobs</span>
        </a>
      }
    >
      <p class="hint">
        The pages of the jobs ask for the operators’ key once more: enter it as the password, with any user name.
      </p>
      <Loaded resource={queue} rows={6}>
        {({ samples, readiness }) => (
          <>
            <Depth samples={samples} />
            <div class="columns">
              <Census strays={samples.get('sluice_census_violations')} />
              <Process readiness={readiness} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Depth({ samples }: { samples: Samples }) {
  const counted = (name: string, bound: number) => {
    const value = samples.get(name);
    return value === undefined ? 'unknown' : formatUpTo(bound, value);
  };
  const jobs = (state: string) => counted(`sluice_queue_jobs{state="${state}"}`, MAX_JOBS);
  return (
    <div class="cards figures">
      <Figure title="Waiting" value={jobs('waiting')}>
        {oldest(samples.get('sluice_queue_oldest_waiting_seconds'))}
      </Figure>
      {STATES.map(({ state, title, text }) => (
        <Figure key={state} title={title} value={jobs(state)}>
          {text}
        </Figure>
      ))}
      <Figure title="Outbox" value={counted('sluice_outbox_entries', MAX_ENTRIES)}>
        {['not yet in the queue', ...oldest(samples.get('sluice_outbox_oldest_seconds'))].join('; ')}
      </Figure>
    </div>
  );
}

/** Nothing if it is unknown. */
function oldest(seconds: number | undefined): readonly string[] {
  if (seconds === undefined) return [];
  return [seconds === 0 ? 'nothing is due' : `the oldest for ${formatDuration(1_000 * seconds)}`];
}

function Census({ strays }: { strays: number | undefined }) {
  return (
    <Card
      title="Census"
      actions={strays !== undefined && <Badge tone={strays === 0 ? 'good' : 'bad'}>{formatNumber(strays)}</Badge>}
    >
      <p>
        {strays === undefined
          ? 'Unknown: the database has not responded.'
          : 'Open messages that nothing would deliver. It must be 0; the reconciler queues them again.'}
      </p>
    </Card>
  );
}

function Process({ readiness: { status, checks } }: { readiness: Readiness }) {
  return (
    <Card title="This API process" actions={<Badge tone={status === 'ready' ? 'good' : 'bad'}>{status}</Badge>}>
      <Facts>
        {Object.entries(checks).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </Facts>
    </Card>
  );
}
