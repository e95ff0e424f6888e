import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { Page } from '../parts.js';
import { Problem } from '../problem.js';

/** A view, or that it failed: what a proxy answers can be JSON of any shape. The other views go on. */
export function Contained({ children }: { children: ComponentChildren }) {
  const [error, tryAgain] = useErrorBoundary() as [unknown, () => void];
  if (error === undefined) return <>{children}</>;
  return (
    <Page title="Not shown">
      <Problem error={error} onRetry={tryAgain} />
    </Page>
  );
}
