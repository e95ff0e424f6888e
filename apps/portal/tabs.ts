/** What the tabs of a browser tell each other. */
export type Word =
  | { readonly kind: 'ask' }
  | { readonly kind: 'key'; readonly key: string; readonly isKept: boolean }
  | { readonly kind: 'switch'; readonly from: string; readonly to: string; readonly id: string }
  | { readonly kind: 'out'; readonly key: string; readonly isRefused: boolean };

// Only pages of this origin in this browser can listen, and nothing of it is stored.
const channel = new BroadcastChannel('sluice');

export function tell(word: Word): void {
  channel.postMessage(word);
}

export function listen(listener: (word: Word) => void): void {
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    listener(data);
  };
}
