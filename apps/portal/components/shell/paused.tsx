import { announce } from '../announcer.js';
import { Button } from '../button.js';
import { Icon } from '../icon.js';
import { Badge, Card } from '../parts.js';
import { Problem } from '../problem.js';
import { pause as refusal } from '../../session/connection.js';
import { useAction } from '../../loading/hooks.js';
import { account, changeAccount } from '../../session/account.js';

function usePausing() {
  return useAction(async (paused: boolean) => {
    await changeAccount({ paused });
    announce(paused ? 'Deliveries are paused.' : 'Messages are delivered again.');
  });
}

/** On every view while the account is paused: what is sent seems to get stuck. */
export function PausedBanner() {
  const { run, isRunning, error } = usePausing();
  if (account.value?.paused !== true) return null;
  return (
    <>
      <div class="banner warn">
        <Icon name="warning" />
        <p>
          <strong>Deliveries are paused.</strong> Messages are accepted, and wait until you resume.
        </p>
        <Button isBusy={isRunning} isDisabled={refusal.value !== null} onClick={() => void run(false)}>
          Resume deliveries
        </Button>
      </div>
      <Problem error={error} />
    </>
  );
}

/** The switch. */
export function Pausing() {
  const { run, isRunning, error } = usePausing();
  if (account.value === null) return null;
  const { paused } = account.value;
  const isBusy = isRunning || refusal.value !== null;
  return (
    <Card title="Deliveries" actions={<Badge tone={paused ? 'warn' : 'good'}>{paused ? 'paused' : 'on'}</Badge>}>
      <label class="mode">
        <input
          type="checkbox"
          role="switch"
          checked={paused}
          // One that is disabled would lose the focus.
          aria-disabled={isBusy}
          onChange={({ currentTarget }) => {
            currentTarget.checked = paused;
            if (!isBusy) void run(!paused);
          }}
        />
        <span>
          <strong>Pause deliveries</strong>
          <span class="hint">
            Messages are still accepted. Within a second no delivery begins any more, by any way; what has begun is
            finished.
          </span>
        </span>
      </label>
      <Problem error={error} />
    </Card>
  );
}
