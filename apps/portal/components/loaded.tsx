import type { ComponentChildren } from 'preact';
import type { Resource } from '../loading/hooks.js';
import { Skeleton } from './parts.js';
import { Problem } from './problem.js';

interface LoadedProps<T> {
  readonly resource: Pick<Resource<T>, 'data' | 'error' | 'isLoading' | 'reload'>;
  /** How many rows take its place while it loads. */
  readonly rows: number;
  readonly children: (data: T) => ComponentChildren;
}

/** What was loaded, and why the last load failed. */
export function Loaded<T>({ resource: { data, error, isLoading, reload }, rows, children }: LoadedProps<T>) {
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {data === null ? isLoading && <Skeleton rows={rows} /> : children(data)}
    </>
  );
}
