import { clockAhead, isForeign, lookAgain, outage, pause, type Pause } from '../../session/connection.js';
import { formatDuration, formatMoment } from '../../text/format.js';
import { useNow } from '../../loading/hooks.js';
import { Button } from '../button.js';
import { Icon } from '../icon.js';
import { sentenceOf } from '../problem.js';

/** What concerns every view: requests are refused, or nobody answers. */
export function Banners() {
  return (
    <div class="banners">
      {outage.value !== null && (
        <div class="banner bad" role="alert">
          <Icon name="warning" />
          <p>
            <strong>Sluice cannot be reached.</strong> {isForeign(outage.value) && sentenceOf(outage.value)} Trying
            again every few seconds. What is shown may be out of date.
          </p>
          <Button onClick={() => void lookAgain()}>Try now</Button>
        </div>
      )}
      {pause.value !== null && <PauseBanner pause={pause.value} />}
      {clockAhead.value !== 0 && (
        <div class="banner warn">
          <Icon name="warning" />
          <p role="alert">
            <strong>
              The clock of this device is {formatDuration(Math.abs(clockAhead.value))}{' '}
              {clockAhead.value > 0 ? 'ahead' : 'behind'}.
            </strong>{' '}
            Set it: times and charts here, and what is chosen by time, depend on it.
          </p>
        </div>
      )}
    </div>
  );
}

function PauseBanner({ pause: { until, error } }: { pause: Pause }) {
  const left = formatDuration(until - useNow());
  const isBan = error.code === 'api_key_banned';
  return (
    <div class="banner warn">
      <Icon name="warning" />
      {/* Read once, and not each second again. */}
      <p role="alert">
        <strong>{isBan ? 'This key is banned' : 'The rate limit is reached'}</strong> until {formatMoment(until)}.{' '}
        {isBan
          ? 'It kept sending after it was refused. Other keys of the account still work.'
          : 'What could not be loaded is loaded then. Anything else that was refused has to be done again.'}
      </p>
      <span class="countdown" aria-hidden="true">
        {left}
      </span>
    </div>
  );
}
