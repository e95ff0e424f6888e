import { useEffect, useRef, useState } from 'preact/hooks';
import type { Message, MessageStatus, Page as ListPage } from '#client/index.js';
import { Button } from '../../components/button.js';
import { Snippets } from '../../components/messages/code.js';
import { Icon } from '../../components/icon.js';
import { Live } from '../../components/messages/live.js';
import { fieldsLine } from '../../components/messages/message-fields.js';
import { Empty, focusHeading, Page, Skeleton, Status, Time } from '../../components/parts.js';
import { Problem } from '../../components/problem.js';
import { apiKey, call } from '../../connection.js';
import { count, previewOf } from '../../format.js';
import { useResource } from '../../hooks.js';
import { latest, newest, useMessageEvents, useReloadWhenLive } from '../../live.js';
import { href, route } from '../../router.js';
import { can } from '../../session.js';

const PAGE_SIZE = 25;
/** Includes the messages that have arrived since the page was loaded. */
const MAX_ROWS = 100;
const STATUSES: readonly MessageStatus[] = ['queued', 'processing', 'delivered', 'failed', 'cancelled', 'skipped'];

export function MessagesView() {
  const { query } = route.value;
  const status = STATUSES.find((one) => one === query.get('status'));
  const cursor = query.get('cursor') ?? undefined;
  const type = query.get('type') ?? '';
  const filter: Filter = { status, type };
  const merge = (page: ListPage<Message>, message: Message) => merged(page, message, filter, cursor === undefined);
  const { data, error, isLoading, reload, set } = useResource<ListPage<Message>>(
    () => call((client) => client.messages.list({ ...queryOf(filter), cursor, limit: PAGE_SIZE }).page()),
    [status, type, cursor],
    (page) => [...latest()].reduce(merge, page),
  );
  useReloadWhenLive(reload);
  useMessageEvents(
    (message) => {
      set((page) => merge(page, message));
    },
    [status, type, cursor],
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
            href={href('messages', { ...queryOf(filter), status: one ?? null })}
            aria-current={one === status ? 'true' : undefined}
          >
            {one ?? 'all'}
          </a>
        ))}
      </nav>
      <TypeFilter filter={filter} />
      <Problem error={error} onRetry={reload} />
      {news > 0 && (
        <div class="news" role="status">
          <Button onClick={showNews}>{count(news, 'new message')}</Button>
        </div>
      )}
      {data === null ? (
        isLoading && <Skeleton rows={8} />
      ) : data.data.length === 0 ? (
        <NoMessages filter={filter} isFirstPage={cursor === undefined} />
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
                    {fieldsLine(message) !== '' && <bdi class="sub fields">{fieldsLine(message)}</bdi>}
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
            <a class="button plain" href={href('messages', queryOf(filter))}>
              <Icon name="back" />
              <span>Newest</span>
            </a>
          )}
          {data.nextCursor !== null && (
            <a class="button plain" href={href('messages', { ...queryOf(filter), cursor: data.nextCursor })}>
              <span>Older</span>
              <Icon name="next" />
            </a>
          )}
        </nav>
      )}
    </Page>
  );
}

interface Filter {
  readonly status: MessageStatus | undefined;
  /** A type, or words and `*`; empty for all. */
  readonly type: string;
}

const queryOf = ({ status, type }: Filter) => ({
  ...(status !== undefined && { status }),
  ...(type !== '' && { type }),
});

/** The filter is part of the address, so that it can be linked and gone back from. */
function TypeFilter({ filter }: { filter: Filter }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <search>
      <form
        class="type-filter"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = href('messages', queryOf({ ...filter, type: input.current?.value.trim() ?? '' }));
        }}
      >
        <input
          ref={input}
          key={filter.type}
          class="mono"
          aria-label="Type"
          placeholder="Type, such as order.paid or order.*"
          autocomplete="off"
          spellcheck={false}
          defaultValue={filter.type}
        />
        <Button type="submit">Filter</Button>
        {filter.type !== '' && (
          <a class="button plain" href={href('messages', queryOf({ ...filter, type: '' }))}>
            All types
          </a>
        )}
      </form>
    </search>
  );
}

function NoMessages({ filter: { status, type }, isFirstPage }: { filter: Filter; isFirstPage: boolean }) {
  if (status !== undefined || type !== '' || !isFirstPage) {
    const of = type === '' ? '' : ` of type ${type}`;
    return (
      <Empty
        title={!isFirstPage ? 'No older messages' : `No messages${of}${status === undefined ? '' : ` are ${status}`}`}
      >
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
  { status, type }: Filter,
  isFirstPage: boolean,
): ListPage<Message> {
  const known = page.data.find(({ id }) => id === event.id);
  const message = known === undefined ? event : newest(known, event);
  const others = page.data.filter((one) => one !== known);
  const fits = (status === undefined || message.status === status) && isOfType(type, message.type);
  // Ids are in the order of their creation.
  const isCovered = page.nextCursor === null || message.id > (page.data.at(-1)?.id ?? '');
  const rows = fits && (known !== undefined || (isFirstPage && isCovered)) ? [message, ...others] : others;
  return { ...page, data: rows.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, MAX_ROWS) };
}

function isOfType(filter: string, type: string | undefined): boolean {
  if (filter.endsWith('*')) return type?.startsWith(filter.slice(0, -1)) === true;
  return filter === '' || type === filter;
}
