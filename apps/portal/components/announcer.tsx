import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const SHOWN_MS = 4_000;
/** The number distinguishes a sentence that is repeated from one that stays. */
const announcement = signal({ sentence: '', number: 0 });

/** Shows a sentence for a moment, and has screen readers read it. */
export function announce(sentence: string): void {
  announcement.value = { sentence, number: announcement.peek().number + 1 };
}

/** Beside the views, and in a dialog: what is outside of that is neither seen nor read. */
export function Announcer() {
  const { sentence, number } = announcement.value;
  useEffect(() => {
    const timer = setTimeout(() => {
      announcement.value = { sentence: '', number };
    }, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [number]);
  return (
    <div class="announcer" role="status" aria-live="polite">
      {sentence !== '' && (
        <div key={number} class="toast">
          {sentence}
        </div>
      )}
    </div>
  );
}
