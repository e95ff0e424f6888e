import type { Limits } from '#kernel/limits.js';

/* Repeated by `sluice.take_hits`, which counts requests: a change here needs one there. See docs/adr/0013. */

/** Milliseconds. */
export const WINDOW_MS = { minute: 60_000, day: 86_400_000 } as const;
export type WindowName = keyof typeof WINDOW_MS;

/** A fixed window, anchored at the first request that it counts. */
export interface Window {
  readonly used: number;
  /** Unix milliseconds; 0 when it has counted nothing yet. */
  readonly endsAt: number;
}

export type Windows = Readonly<Record<WindowName, Window>>;

export const UNUSED: Windows = { minute: { used: 0, endsAt: 0 }, day: { used: 0, endsAt: 0 } };

interface TakeResult {
  /** How many of the requests are admitted; the others are counted in no window. */
  readonly admitted: number;
  readonly windows: Windows;
}

/**
 * Counts requests in both windows, as many as fit.
 * @param at Unix milliseconds
 * @param whole whether the requests are admitted together or not at all
 */
export function take(windows: Windows, limits: Limits, count: number, at: number, whole = false): TakeResult {
  const minute = rolled(windows.minute, WINDOW_MS.minute, at);
  const day = rolled(windows.day, WINDOW_MS.day, at);
  const capacity = Math.max(0, Math.min(limits.perMinute - minute.used, limits.perDay - day.used));
  const admitted = whole && count > capacity ? 0 : Math.min(count, capacity);
  if (admitted === 0) return { admitted, windows: { minute, day } };
  return {
    admitted,
    windows: {
      minute: counted(minute, admitted, at + WINDOW_MS.minute),
      day: counted(day, admitted, at + WINDOW_MS.day),
    },
  };
}

/** When `count` more requests fit: the end of the window without capacity for them, the later of two; 0 for none. */
export function refusedUntil({ minute, day }: Windows, limits: Limits, count: number): number {
  return Math.max(
    minute.used + count > limits.perMinute ? minute.endsAt : 0,
    day.used + count > limits.perDay ? day.endsAt : 0,
  );
}

// A clock that goes back must not lengthen a window: it never ends later than one that begins now.
function rolled(window: Window, lengthMs: number, at: number): Window {
  if (window.endsAt <= at) return { used: 0, endsAt: 0 };
  return { used: window.used, endsAt: Math.min(window.endsAt, at + lengthMs) };
}

function counted(window: Window, count: number, endsAt: number): Window {
  return { used: window.used + count, endsAt: window.endsAt === 0 ? endsAt : window.endsAt };
}
