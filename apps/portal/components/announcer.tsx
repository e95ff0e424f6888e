import { signal } from '@preact/signals';

const SHOWN_MS = 4_000;
/** The number distinguishes a sentence that is repeated from one that stays. */
const announcement = signal({ sentence: '', number: 0 });
let ending: ReturnType<typeof setTimeout> | undefined;

/** Shows a sentence for a moment, and has screen readers read it. */
export function announce(sentence: string): void {
  const number = announcement.peek().number + 1;
  announcement.value = { sentence, number };
  // Here and not in an effect: that runs after the next frame, and until then the last timer could end this sentence.
  clearTimeout(ending);
  ending = setTimeout(() => {
    announcement.value = { sentence: '', number };
  }, SHOWN_MS);
}

/** Beside the views, and in a dialog: what is outside of that is neither seen nor read. */
export function Announcer() {
  const { sentence, number } = announcement.value;
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
