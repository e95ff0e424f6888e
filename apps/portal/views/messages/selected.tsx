import { useState } from 'preact/hooks';
import type { Endpoint, Message } from '#client/index.js';
import { Button } from '../../components/button.js';
import { endpointName } from '../../components/messages/deliveries.js';
import { count } from '../../text/format.js';
import { useOpened } from '../../loading/hooks.js';
import { hrefOf } from '../../navigation/finding.js';
import type { Filter } from './filter.js';
import type { Selection } from './selection.js';
import { WorkDialog } from './work-dialog.js';
import { canDoAll, NEEDED, WORKS, type Work } from './works.js';

const LABELS: Readonly<Record<Work, string>> = { retry: 'Retry', cancel: 'Cancel', replay: 'Replay' };

interface SelectedProps {
  readonly messages: readonly Message[];
  readonly selection: Selection;
  readonly filter: Filter;
  /** Of the filter, once it is known. */
  readonly endpoint: Endpoint | null;
  /** Whether there are more than those that are shown. */
  readonly hasMore: boolean;
}

/** What can be done with the rows that are selected, or with all that match. */
export function Selected({ messages, selection, filter, endpoint, hasMore }: SelectedProps) {
  const [isAll, setIsAll] = useState(false);
  const { what: opened, open, close } = useOpened<Work>();
  const chosen = messages.filter(({ id }) => selection.ids.has(id));
  const fits = (work: Work) =>
    isAll ? canDoAll(work, filter) : work !== 'replay' && chosen.some(({ status }) => status === NEEDED[work]);
  const clear = () => {
    setIsAll(false);
    selection.set([]);
  };
  const works = WORKS.filter((work) => fits(work) && (work !== 'replay' || endpoint?.enabled === true));
  return (
    <section class="selected" aria-label="Selected messages">
      <p role="status">{isAll ? 'All that match are selected' : `${count(chosen.length, 'message')} selected`}</p>
      {works.length === 0 && (
        <p class="hint">
          {isAll && endpoint?.enabled === false ? (
            <>
              Nothing is replayed to a disabled endpoint: <a href={hrefOf(endpoint.id)}>enable it</a> first.
            </>
          ) : (
            'Nothing to retry or to cancel.'
          )}
        </p>
      )}
      {works.map((work) => (
        <Button
          key={work}
          look={work === 'cancel' ? 'danger' : 'primary'}
          onClick={() => {
            open(work);
          }}
        >
          {LABELS[work]}
        </Button>
      ))}
      {!isAll && (hasMore || filter.endpointId !== undefined) && (
        <Button
          onClick={() => {
            setIsAll(true);
          }}
        >
          Select all that match
        </Button>
      )}
      <Button onClick={clear}>Clear</Button>
      {opened !== null && (
        <WorkDialog
          work={opened}
          of={isAll ? filter : chosen}
          endpoint={endpoint === null ? undefined : endpointName(endpoint)}
          onClose={() => {
            close();
            clear();
          }}
        />
      )}
    </section>
  );
}
