import { useEffect, useRef, useState } from 'preact/hooks';
import type { Message, MessageStatus, Page as ListPage } from '#client/index.js';
import { Button } from '../components/button.js';
import { Snippets } from '../components/code.js';
import { Icon } from '../components/icon.js';
import { Live } from '../components/live.js';
import { Empty, focusHeading, Page, Skeleton, Status, Time } from '../components/parts.js';
import { Problem } from '../components/problem.js';
import { apiKey, call } from '../connection.js';
import { count, previewOf } from '../format.js';
import { useResource } from '../hooks.js';
import { latest, newest, useMessageEvents, useReloadWhenLive } from '../live.js';
import { href, route } from '../router.js';
import { can } from '../session.js';

const PAGE_SIZE = 25;
/** Includes the messages that have arrived since the page was loaded. */
const MAX_ROWS = 100;
const STATUSES: readonly MessageStatus[] = ['queued', 'processing', 'delivered', 'failed', 'cancelled', 'skipped'];

export function MessagesView() {
  const { query } = route.value;
  const status = STATUSES.find((one) => one === query.get('status'));
  const cursor = query.get('cursor') ?? undefined;
  const merge = (page: ListPage<Message>, message: Message) => merged(page, message, status, cursor === undefined);
  const { data, error, isLoading, reload, set } = useResource<ListPage<Message>>(
    () => call((client) => client.messages.list({ status, cursor, limit: PAGE_SIZE }).page()),
    [status, cursor],
    (page) => [...latest()].reduce(merge, page),
  );
  useReloadWhenLive(reload);
  useMessageEvents(
    (message) => {
      set((page) => merge(page, message));
    },
    [status, cursor],
  );

  // Rows under the pointer, the focus or the eyes stay where they are.
  const table = useRef<HTMLTableElement>(null);
  const top = useRef('');
  const [, setShownNews] = useState('');
  const newestId = data?.data[0]?.id ?? '';
  if (table.current === null || !isHeld(table.current)) top.current = newestId;
  const rows = data === null ? [] : data.data.filter(({ id }) => id <= top.current);
  const news = (data?.data.length ?? 0) - rows.length;
  const showNews = () => {
    top.current = newestId;
    setShownNews(newestId);
    focusHeading();
    scrollTo(0, 0);
  };

  useEffect(() => {
    scrollTo(0, 0);
  }, [cursor]);

  return (
    <Page
      title="Messages"
      lead="Newest first. Changes of status appear as they happen."
      actions={
        <>
          <Live />
          {can('messages:send') && (
            <a class="button primary" href={href('send')}>
              <Icon name="send" />
              <span>Send</span>
            </a>
          )}
        </>
      }
    >
      <nav class="filters" aria-label="Filter by status">
        {[undefined, ...STATUSES].map((one) => (
          <a
            key={one ?? 'all'}
            href={href('messages', { status: one ?? null })}
            aria-current={one === status ? 'true' : undefined}
          >
            {one ?? 'all'}
          </a>
        ))}
      </nav>
      <Problem error={error} onRetry={reload} />
      {news > 0 && (
        <div class="news" role="status">
          <Button onClick={showNews}>{count(news, 'new message')}</Button>
        </div>
      )}
      {data === null ? (
        isLoading && <Skeleton rows={8} />
      ) : data.data.length === 0 ? (
        <NoMessages status={status} isFirstPage={cursor === undefined} />
      ) : (
        <table ref={table} class="list links messages">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Message</th>
              <th scope="col" class="number wide">
                Attempts
              </th>
              <th scope="col" class="number wide">
                Created
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((message) => (
              <tr key={message.id}>
                <td>
                  <Status status={message.status} />
                </td>
                <td>
                  <a class="row-link" href={href(`messages/${message.id}`)}>
                    <bdi class="preview">{previewOf(message.message)}</bdi>
                    <code class="sub wide">{message.id}</code>
                    <span class="sub narrow">
                      <Time at={message.createdAt} />
                    </span>
                  </a>
                </td>
                <td class="number wide">{message.attempts}</td>
                <td class="number wide">
                  <Time at={message.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data !== null && (cursor !== undefined || data.nextCursor !== null) && (
        <nav class="pager" aria-label="Pages">
          {cursor !== undefined && (
            <a class="button plain" href={href('messages', { status: status ?? null })}>
              <Icon name="back" />
              <span>Newest</span>
            </a>
          )}
          {data.nextCursor !== null && (
            <a class="button plain" href={href('messages', { status: status ?? null, cursor: data.nextCursor })}>
              <span>Older</span>
              <Icon name="next" />
            </a>
          )}
        </nav>
      )}
    </Page>
  );
}

function NoMessages({ status, isFirstPage }: { status: MessageStatus | undefined; isFirstPage: boolean }) {
  if (status !== undefined || !isFirstPage) {
    return (
      <Empty title={status === undefined ? 'No older messages' : `No messages are ${status}`}>
        <p>
          <a href={href('messages')}>Show all messages</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Send your first message">
      <p>It appears here as soon as it is stored. Paste this into a terminal:</p>
      <Snippets apiKey={can('messages:send') ? apiKey.value : null} />
    </Empty>
  );
}

function isHeld(table: HTMLTableElement): boolean {
  return scrollY > 0 || table.matches(':hover, :focus-within');
}

/** The page after an event: new messages are added, and messages that no longer match the filter are removed. */
function merged(
  page: ListPage<Message>,
  event: Message,
  status: MessageStatus | undefined,
  isFirstPage: boolean,
): ListPage<Message> {
  const known = page.data.find(({ id }) => id === event.id);
  const message = known === undefined ? event : newest(known, event);
  const others = page.data.filter((one) => one !== known);
  const fits = status === undefined || message.status === status;
  // Ids are in the order of their creation.
  const isCovered = page.nextCursor === null || message.id > (page.data.at(-1)?.id ?? '');
  const rows = fits && (known !== undefined || (isFirstPage && isCovered)) ? [message, ...others] : others;
  return { ...page, data: rows.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, MAX_ROWS) };
}
