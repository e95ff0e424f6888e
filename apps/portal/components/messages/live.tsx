import { liveState, type LiveState } from '../../loading/live.js';

const TEXTS: Readonly<Record<LiveState, string>> = {
  off: 'No live updates',
  connecting: 'Connecting …',
  live: 'Live',
  busy: 'No live updates: the account has five streams open elsewhere. Reload this page to see changes.',
  lost: 'No live updates. Reload this page to see changes.',
};

/** Whether what is shown follows what happens. */
export function Live() {
  const state = liveState.value;
  return (
    <span class={`live-state ${state}`} role="status">
      {TEXTS[state]}
    </span>
  );
}
