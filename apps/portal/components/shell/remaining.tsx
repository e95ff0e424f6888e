import { rateLimit } from '../../session/connection.js';
import { formatNumber } from '../../text/format.js';
import { useNow } from '../../loading/hooks.js';
import { Meter } from '../charts/meter.js';

/** What is used of the minute, as the last response said. */
export function Remaining() {
  const now = useNow();
  const minute = rateLimit.value?.windows.find(({ name }) => name === 'minute');
  if (minute === undefined) return <div class="remaining" />;
  const isOver = minute.resetsAt.getTime() <= now;
  const used = isOver ? 0 : minute.limit - minute.remaining;
  return (
    <div class="remaining">
      <p>
        <span>Used this minute</span>
        <span>
          {formatNumber(used)} of {formatNumber(minute.limit)}
        </span>
      </p>
      <Meter label="Requests used this minute" used={used} limit={minute.limit} />
    </div>
  );
}
