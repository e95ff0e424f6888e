/** How long a view that loads anew is waited for. */
const LOADING_MS = 3_000;
/** By these, the visitor goes elsewhere in the view. */
const MOVES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/** Where the visitor was in a view. */
interface Place {
  readonly top: number;
  /** The address of the link that had the focus. */
  readonly link: string | null;
}

// A view is empty when the browser would scroll.
history.scrollRestoration = 'manual';

/** By entries of the history. */
const places = new Map<string, Place>();
let entry = entryOfHistory();
/** Whether the view of the entry has been shown: its parts need not move it again. */
let isTaken = false;
let stop = (): void => undefined;

function entryOfHistory(): string {
  const { entry: known } = (history.state ?? {}) as { readonly entry?: string };
  if (known !== undefined) return known;
  // A reload forgets the places, but not the entries.
  const added = `${performance.timeOrigin}-${places.size}`;
  history.replaceState({ entry: added }, '');
  return added;
}

/** To be called before another view is shown. */
export function leavePlace(): void {
  const link = document.activeElement?.closest('a')?.getAttribute('href') ?? null;
  places.set(entry, { top: scrollY, link });
  entry = entryOfHistory();
  isTaken = false;
}

/** Shows a view from its beginning, or where it was left if Back or Forward leads to it. */
export function takePlace(): void {
  if (isTaken) return;
  isTaken = true;
  stop();
  const { top, link } = places.get(entry) ?? { top: 0, link: null };
  scrollTo(0, top);
  if (top === 0 && link === null) return;
  const observer = new ResizeObserver(() => {
    scrollTo(0, top);
    const isFree = document.activeElement?.matches('body, h1');
    const target = link === null ? null : document.querySelector<HTMLElement>(`main a[href="${CSS.escape(link)}"]`);
    if (isFree) target?.focus({ preventScroll: true });
  });
  const timer = setTimeout(() => {
    stop();
  }, LOADING_MS);
  stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const move of MOVES) removeEventListener(move, stop);
  };
  for (const move of MOVES) addEventListener(move, stop, { passive: true });
  observer.observe(document.body);
}
