import { useSignalEffect } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { RateLimitError, type Page } from '#client/index.js';
import { pause, revival } from '../session/connection.js';
import { ordered } from './ordered.js';
import { once, type Pending } from './once.js';
import { noteOpened } from '../navigation/router.js';

export interface Resource<T> {
  readonly data: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /** Replaces what was loaded, such as after a change. */
  readonly set: (change: (data: T) => T) => void;
  /** Replaces it with the response to a change. */
  readonly change: (request: () => Promise<T>) => Promise<T>;
}

interface State<T> {
  readonly data: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** What it belongs to. */
  readonly key: string;
}

/**
 * Loads when one of the dependencies has changed, and again after an outage if it had failed. What was loaded stays until
 * the next result, unless the dependencies are others.
 * @param update brings what was loaded up to date with what has happened while it was loaded
 */
export function useResource<T>(
  load: () => Promise<T>,
  dependencies: readonly (string | undefined)[],
  update: (data: T) => T = (data) => data,
): Resource<T> {
  const key = JSON.stringify(dependencies);
  const nothing = { data: null, error: null, isLoading: true, key };
  const [stored, setState] = useState<State<T>>(nothing);
  const state = stored.key === key ? stored : nothing;
  const [round, setRound] = useState(0);
  const reload = useCallback(() => {
    setRound((last) => last + 1);
  }, []);
  useEffect(() => {
    let isCurrent = true;
    setState((last) => (last.key === key ? { ...last, isLoading: true } : nothing));
    load().then(
      (data) => {
        if (isCurrent) setState({ data: update(data), error: null, isLoading: false, key });
      },
      (error: unknown) => {
        if (isCurrent) setState((last) => ({ ...last, error, isLoading: false }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  const failed = useRef(false);
  failed.current = state.error !== null;
  useSignalEffect(() => {
    if (revival.value > 0 && failed.current) reload();
  });
  const set = useCallback((change: (data: T) => T) => {
    setState((last) => (last.data === null ? last : { ...last, data: change(last.data) }));
  }, []);
  const change = useMemo(
    () =>
      ordered<T>((data) => {
        set(() => data);
      }, load),
    [key],
  );
  return { ...state, reload, set, change };
}

/** Loads again so long after it was loaded, while somebody can see it. */
export function useRefresh(
  { reload, isLoading }: Pick<Resource<unknown>, 'reload' | 'isLoading'>,
  everyMs: number,
): void {
  useEffect(() => {
    if (isLoading) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && pause.value === null) reload();
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [reload, isLoading, everyMs]);
}

/** The time, for as long as it matters. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs]);
  return now;
}

export interface Action<Arguments extends readonly unknown[]> {
  readonly run: (...args: Arguments) => Promise<void>;
  readonly isRunning: boolean;
  readonly error: unknown;
}

/**
 * An action that a button starts, one at a time, and its error. The error of a limit disappears when the limit ends.
 */
export function useAction<Arguments extends readonly unknown[]>(
  work: (...args: Arguments) => Promise<void>,
): Action<Arguments> {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>({ isRunning: false, error: null });
  const isRunning = useRef(false);
  const run = async (...args: Arguments) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ isRunning: true, error: null });
    try {
      await work(...args);
      setState({ isRunning: false, error: null });
    } catch (error) {
      setState({ isRunning: false, error });
    } finally {
      isRunning.current = false;
    }
  };
  useSignalEffect(() => {
    if (revival.value > 0) setState((last) => (last.error instanceof RateLimitError ? { ...last, error: null } : last));
  });
  return { run, ...state };
}

/** `once` while a dialog is open. The response to a request of an earlier dialog may be a key that was revoked meanwhile. */
export function useOnce() {
  const { current } = useRef<Pending>(new Map());
  return <T>(content: unknown, send: (idempotencyKey: string) => Promise<T>) => once(content, send, current);
}

export interface Opened<What> {
  /** Null while nothing is open. */
  readonly what: What | null;
  readonly open: (what: What) => void;
  /** Closes what was open when this was rendered: a late response may find another dialog in its place. */
  readonly close: () => void;
}

/** Which dialog of a view is open. */
export function useOpened<What>(): Opened<What> {
  const [opened, setOpened] = useState<{ readonly what: What } | null>(null);
  return {
    what: opened?.what ?? null,
    open: (what) => {
      noteOpened();
      setOpened({ what });
    },
    close: () => {
      setOpened((last) => (last === opened ? null : last));
    },
  };
}

export interface Edits<Fields> {
  /** What the form shows: what is not edited follows what was loaded. */
  readonly shown: Fields;
  /** Only what differs from what was loaded. Nothing else is sent: that would undo what others have changed meanwhile. */
  readonly changed: Partial<Fields>;
  readonly isChanged: boolean;
  readonly edit: (fields: Partial<Fields>) => void;
  /** Follows what was loaded again, once what the form has shown is saved. What was edited since then stays. */
  readonly saved: (shown: Fields) => void;
}

/** What is edited in a form that changes something. */
export function useEdits<Fields extends object>(loaded: Fields): Edits<Fields> {
  const [edited, setEdited] = useState<Partial<Fields>>({});
  const changes = differing(edited, loaded);
  return {
    shown: { ...loaded, ...edited },
    changed: changes,
    isChanged: Object.keys(changes).length > 0,
    edit: (fields) => {
      setEdited((last) => ({ ...last, ...fields }));
    },
    saved: (shown) => {
      setEdited((last) => differing(last, shown));
    },
  };
}

/** The fields that are not as in the other one. */
function differing<Fields extends object>(fields: Partial<Fields>, other: Fields): Partial<Fields> {
  const isSame = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) === JSON.stringify(other[name as keyof Fields]);
  return Object.fromEntries(Object.entries(fields).filter((field) => !isSame(field))) as Partial<Fields>;
}

export interface ListResource<Item> extends Resource<Page<Item>> {
  /** Loads the next page. */
  readonly more: Action<[]>;
}

/** A list that grows: its first page, and the next ones when somebody wants more. */
export function useList<Item>(
  load: (cursor?: string) => Promise<Page<Item>>,
  dependencies: readonly (string | undefined)[],
): ListResource<Item> {
  const list = useResource(() => load(), dependencies);
  const more = useAction(async () => {
    const cursor = list.data?.nextCursor ?? undefined;
    const next = await load(cursor);
    // It may be another list by now.
    list.set((page) => (page.nextCursor === cursor ? { ...next, data: [...page.data, ...next.data] } : page));
  });
  return { ...list, more };
}

/** Asks before the tab is closed, for as long as something would be lost. */
export function useUnloadWarning(isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const warn = (event: BeforeUnloadEvent) => {
      event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => {
      removeEventListener('beforeunload', warn);
    };
  }, [isActive]);
}
