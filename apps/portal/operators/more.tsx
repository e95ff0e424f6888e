import { Button } from '../components/button.js';
import { Problem } from '../components/problem.js';
import type { ListResource } from '../loading/hooks.js';

/** Below a list: the button for its next page. */
export function More({ list: { data, more } }: { list: Pick<ListResource<unknown>, 'data' | 'more'> }) {
  if (!data?.nextCursor) return null;
  return (
    <>
      <Problem error={more.error} />
      <div class="pager">
        <Button isBusy={more.isRunning} onClick={() => void more.run()}>
          Load more
        </Button>
      </div>
    </>
  );
}
