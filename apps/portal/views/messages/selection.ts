import { useState } from 'preact/hooks';

/** The rows that somebody has selected. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly set: (ids: readonly string[]) => void;
}

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return {
    ids,
    toggle: (id) => {
      setIds((last) => new Set(last.has(id) ? [...last].filter((one) => one !== id) : [...last, id]));
    },
    set: (chosen) => {
      setIds(new Set(chosen));
    },
  };
}
