import { useUnloadWarning } from '../../loading/hooks.js';
import { firstKey } from '../../session/session.js';
import { Secret } from './secret-value.js';

/** On every view, until the visitor has stored it. */
export function FirstKey() {
  useUnloadWarning(firstKey.value !== null);
  if (firstKey.value === null) return null;
  return (
    <section class="card first-key" aria-label="Your API key">
      <h2>Your API key</h2>
      <Secret
        secret={firstKey.value.key}
        what="API key"
        onStored={() => {
          firstKey.value = null;
        }}
      />
    </section>
  );
}
