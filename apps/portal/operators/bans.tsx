import { NotFoundError } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Loaded } from '../components/loaded.js';
import { Empty, Fact, Id, Page, Time } from '../components/parts.js';
import { Problem } from '../components/problem.js';
import { call } from '../session/connection.js';
import { useAction, useList } from '../loading/hooks.js';
import { href } from '../navigation/router.js';
import { More } from './more.js';
import { nameHidden } from '../text/hidden-characters.js';

export function BansView() {
  const bans = useList((cursor) => call((client) => client.admin.bans.list({ cursor }).page()), []);
  const forget = (keyId: string) => {
    bans.set((page) => ({ ...page, data: page.data.filter((ban) => ban.keyId !== keyId) }));
  };
  return (
    <Page
      title="Bans"
      lead="Keys that kept sending after they were refused. A ban ends by itself."
      actions={
        <Button icon="refresh" onClick={bans.reload} isBusy={bans.isLoading && bans.data !== null}>
          Refresh
        </Button>
      }
    >
      <Loaded resource={bans} rows={4}>
        {(page) =>
          page.data.length === 0 && page.nextCursor === null ? (
            <Empty title="No key is banned">
              <p>Bans appear here while they are in force.</p>
            </Empty>
          ) : (
            <ul class="rows">
              {page.data.map(({ keyId, accountId, reason, bannedAt, bannedUntil }) => (
                <li key={keyId} class="row">
                  <div class="row-main">
                    <h2>
                      <Id id={keyId} what="id of the key" />
                    </h2>
                    <p>{nameHidden(reason)}</p>
                    <a href={href(`accounts/${accountId}`)}>
                      <code>{accountId}</code>
                    </a>
                  </div>
                  <dl class="row-facts">
                    <Fact name="Since">
                      <Time at={bannedAt} />
                    </Fact>
                    <Fact name="Ends">
                      <Time at={bannedUntil} />
                    </Fact>
                  </dl>
                  <div class="actions">
                    <LiftButton keyId={keyId} onLifted={forget} />
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <More list={bans} />
    </Page>
  );
}

export function LiftButton({ keyId, onLifted }: { keyId: string; onLifted: (keyId: string) => void }) {
  const { run, isRunning, error } = useAction(async () => {
    try {
      await call((client) => client.admin.bans.lift(keyId));
    } catch (error) {
      // It has ended by itself, or somebody else has lifted it.
      if (!(error instanceof NotFoundError)) throw error;
    }
    announce('The ban is lifted.');
    onLifted(keyId);
  });
  return (
    <>
      <Problem error={error} />
      <Button isBusy={isRunning} label={`Lift the ban of ${keyId}`} onClick={() => void run()}>
        Lift the ban
      </Button>
    </>
  );
}
