import { useState } from 'preact/hooks';
import type { MessageStatus, Usage, UsageWindow } from '#client/index.js';
import { Button } from '../components/button.js';
import { Badge, Card, Figure, Page, Skeleton, Time } from '../components/parts.js';
import { Problem } from '../components/problem.js';
import { Ring } from '../components/charts/meter.js';
import { UsageHistory } from '../components/charts/usage-history.js';
import { call, pause, rateLimit } from '../session/connection.js';
import { formatBytes, formatMoment, formatDuration, formatNumber, formatUpTo } from '../text/format.js';
import { useNow, useRefresh, useResource } from '../loading/hooks.js';
import { href } from '../navigation/router.js';
import { account, withAccount } from '../session/account.js';
import { can } from '../session/session.js';
import { nameHidden } from '../text/hidden-characters.js';

/** Each look costs two requests of the plan. */
const REFRESH_MS = 60_000;
/** From here on, the API does not count further. */
const MANY = 10_000;

export function UsageView() {
  const usage = useResource(() => withAccount(() => call((client) => client.account.usage())), []);
  useRefresh(usage, REFRESH_MS);
  const { data, error, isLoading, reload } = usage;
  const [round, setRound] = useState(0);
  return (
    <Page
      title="Usage"
      lead={
        account.value === null
          ? 'What the account has used of its plan.'
          : `What ${nameHidden(account.value.name)} has used of its ${account.value.plan} plan.`
      }
      actions={
        <Button
          icon="refresh"
          onClick={() => {
            reload();
            setRound((last) => last + 1);
          }}
          isBusy={isLoading && data !== null}
        >
          Refresh
        </Button>
      }
    >
      <Problem error={error} onRetry={reload} />
      {data === null && pause.value === null ? (
        isLoading && <Skeleton rows={6} />
      ) : (
        <Figures usage={data} round={round} />
      )}
      {data !== null && (
        <p class="hint">
          All but the messages over time is refreshed every minute while you look. Each time counts as two requests.
        </p>
      )}
    </Page>
  );
}

/** The limits, with when they reset. */
export function Windows({ usage }: { usage: Usage | null }) {
  const [minute, day] = [windowOf('minute', usage), windowOf('day', usage)];
  return (
    <div class="cards">
      {minute !== null && <WindowCard title="Requests in a minute" window={minute} />}
      {day !== null && <WindowCard title="Requests in 24 hours" window={day} />}
      {usage !== null && <StorageCard storage={usage.storage} />}
    </div>
  );
}

/** While requests are refused, there is what the refusal stated. */
function Figures({ usage, round }: { usage: Usage | null; round: number }) {
  return (
    <>
      <Windows usage={usage} />
      <KeyCard windows={[windowOf('minute', usage), windowOf('day', usage)]} />
      <UsageHistory round={round} />
      {usage !== null && <Backlog messages={usage.messages} />}
    </>
  );
}

/** Every response states it, also responses that are newer than the usage. */
function windowOf(name: 'minute' | 'day', usage: Usage | null): UsageWindow | null {
  const stated = rateLimit.value?.windows.find((one) => one.name === name);
  if (stated === undefined) return usage === null ? null : usage[name];
  const { limit, remaining } = stated;
  return { limit, remaining, used: limit - remaining, resetsAt: stated.resetsAt.toISOString() };
}

/** When both limits, and a ban of the key, admit a request again. */
function NextRequest({ windows }: { windows: readonly (UsageWindow | null)[] }) {
  const now = useNow();
  const ends = windows.map((window) => (window?.remaining === 0 ? Date.parse(window.resetsAt) : 0));
  const at = Math.max(...ends, pause.value?.until ?? 0);
  if (at <= now) return <p>The next request is admitted at once.</p>;
  return (
    <p>
      The next request is admitted in {formatDuration(at - now)}, at {formatMoment(at)}.
    </p>
  );
}

function StorageCard({ storage }: { storage: Usage['storage'] }) {
  return (
    <Card title="Storage">
      <div class="gauge">
        {storage.limitBytes !== null && (
          <Ring label="Storage used" used={storage.usedBytes} limit={storage.limitBytes} format={formatBytes} />
        )}
        <div>
          <p class="figure">
            {formatBytes(storage.usedBytes)}{' '}
            <span>{storage.limitBytes === null ? 'without a limit' : `of ${formatBytes(storage.limitBytes)}`}</span>
          </p>
          <p class="hint">Messages stay stored after delivery, and are removed by age.</p>
        </div>
      </div>
    </Card>
  );
}

/** What waits, and leads to it. */
export function Backlog({ messages }: { messages: Usage['messages'] }) {
  return (
    <div class="cards">
      <Figure title="Waiting" value={formatUpTo(MANY, messages.queued)}>
        {messages.oldestQueuedAt === null ? (
          'nothing is due'
        ) : (
          <>
            oldest <Time at={messages.oldestQueuedAt} />
          </>
        )}
        <Listed status="queued" />
      </Figure>
      <Figure title="Scheduled" value={formatUpTo(MANY, messages.scheduled)}>
        for later
        <Listed status="queued" />
      </Figure>
      <Figure title="Delivered per minute" value={formatNumber(messages.deliveredPerMinute)}>
        over the last five minutes
        <Listed status="delivered" />
      </Figure>
    </div>
  );
}

function Listed({ status }: { status: MessageStatus }) {
  return can('messages:read') ? (
    <>
      {' · '}
      <a href={href('messages', { status })}>Show {status} messages</a>
    </>
  ) : null;
}

/** Between two looks, the count of a window that has ended is no longer true. */
function WindowCard({ title, window: { limit, used, resetsAt } }: { title: string; window: UsageWindow }) {
  const left = new Date(resetsAt).getTime() - useNow();
  const isOver = left <= 0;
  const shown = isOver ? 0 : used;
  return (
    <Card title={title}>
      <div class="gauge">
        <Ring label={title} used={shown} limit={limit} />
        <div>
          <p class="figure">
            {formatNumber(shown)} <span>of {formatNumber(limit)}</span>
          </p>
          <p class="hint">
            {shown === 0 ? (
              'The window begins with the next request.'
            ) : (
              <>
                {formatNumber(limit - shown)} left
                <br />
                Resets in {formatDuration(left)}, at {formatMoment(resetsAt)}
              </>
            )}
          </p>
        </div>
      </div>
    </Card>
  );
}

function KeyCard({ windows }: { windows: readonly (UsageWindow | null)[] }) {
  const held = pause.value;
  const isBanned = held?.error.code === 'api_key_banned';
  return (
    <Card
      title="This key"
      actions={<Badge tone={isBanned ? 'bad' : 'good'}>{isBanned ? 'banned' : 'not banned'}</Badge>}
    >
      <NextRequest windows={windows} />
      <p>
        {isBanned
          ? `This key is banned until ${formatMoment(held.until)}. Other keys of the account still work.`
          : 'A key that keeps sending after a 429 is banned for a minute, and longer each time. Other keys are not affected.'}
      </p>
    </Card>
  );
}
