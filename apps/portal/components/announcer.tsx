import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const SHOWN_MS = 4_000;
const announcement = signal('');

/** Shows a sentence for a moment, and has screen readers read it. */
export function announce(sentence: string): void {
  announcement.value = sentence;
}

export function Announcer() {
  const sentence = announcement.value;
  useEffect(() => {
    if (sentence === '') return undefined;
    const timer = setTimeout(() => {
      announcement.value = '';
    }, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [sentence]);
  return (
    <div class="announcer" role="status" aria-live="polite">
      {sentence !== '' && <div class="toast">{sentence}</div>}
    </div>
  );
}
