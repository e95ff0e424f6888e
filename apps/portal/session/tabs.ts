/** What the tabs of a browser tell each other. */
export type Word =
  | { readonly kind: 'ask' }
  | { readonly kind: 'key'; readonly key: string; readonly isKept: boolean }
  | { readonly kind: 'switch'; readonly from: string; readonly to: string; readonly id: string }
  | { readonly kind: 'out'; readonly key: string; readonly isRefused: boolean };

// Only pages of this origin in this browser can listen, and nothing of it is stored.
const channel = openChannel();

/** Null in a browser that has none, or blocks it: each tab is signed in by itself, then. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel('sluice');
  } catch {
    return null;
  }
}

export function tell(word: Word): void {
  channel?.postMessage(word);
}

export function listen(listener: (word: Word) => void): void {
  if (channel === null) return;
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    listener(data);
  };
}
