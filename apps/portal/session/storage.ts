type Kind = 'localStorage' | 'sessionStorage';

/** Null if nothing is stored, or if the browser blocks its storage. */
export function recall(kind: Kind, name: string): string | null {
  try {
    return window[kind].getItem(name);
  } catch {
    return null;
  }
}

/** @param value null to forget it */
export function remember(kind: Kind, name: string, value: string | null): void {
  try {
    if (value === null) window[kind].removeItem(name);
    else window[kind].setItem(name, value);
  } catch {
    // It lasts as long as the page, then.
  }
}
