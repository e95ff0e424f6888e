/**
 * For requests about one thing that may overlap: each response states all of it, as it was at some moment of its request.
 * Of two that overlap, nobody knows which one states the newer: after the second one, it is loaded again.
 * @returns shows the response to a request, or what was loaded instead
 */
export function ordered<T>(
  show: (state: T) => void,
  load: () => Promise<T>,
): (request: () => Promise<T>) => Promise<T> {
  let shown = 0;
  return async function settle(request) {
    const known = shown;
    const state = await request();
    if (known !== shown) return settle(load);
    shown++;
    show(state);
    return state;
  };
}
