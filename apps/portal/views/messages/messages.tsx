import { useEffect, useRef, useState } from 'preact/hooks';
import type { Endpoint, Message, Page as ListPage } from '#client/index.js';
import { Button } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { Loaded } from '../../components/loaded.js';
import { Snippets } from '../../components/messages/code.js';
import { endpointName } from '../../components/messages/deliveries.js';
import { Live } from '../../components/messages/live.js';
import { Empty, focusHeading, Page } from '../../components/parts.js';
import { apiKey, call } from '../../session/connection.js';
import { count, LOADED_LENGTH } from '../../text/format.js';
import { useResource } from '../../loading/hooks.js';
import { latest, useMessageEvents, useReloadWhenLive } from '../../loading/live.js';
import { takePlace } from '../../navigation/places.js';
import { href, route } from '../../navigation/router.js';
import { can } from '../../session/session.js';
import { FilterForm } from './filter-form.js';
import { describe, filterOf, isFiltering, merged, type Filter } from './filter.js';
import { MessageTable } from './message-table.js';
import { Selected } from './selected.js';
import { useSelection } from './selection.js';

const PAGE_SIZE = 100;
/** How soon new messages are shown once nothing holds them back. */
const LOOK_MS = 2_000;

export function MessagesView() {
  const { query } = route.value;
  const filter = filterOf(query);
  const cursor = query.get('cursor') ?? undefined;
  const { endpointId } = filter;
  const { data: endpoint } = useResource(
    async () =>
      endpointId !== undefined && can('account:manage') ? call((client) => client.endpoints.get(endpointId)) : null,
    [endpointId],
  );
  const text = describe(filter, nameOf(endpoint));
  return (
    <Page
      title="Messages"
      tab={`${text.charAt(0).toUpperCase()}${text.slice(1)}`}
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
      <FilterForm filter={filter} />
      <MessageList key={JSON.stringify([filter, cursor])} filter={filter} cursor={cursor} endpoint={endpoint} />
    </Page>
  );
}

interface MessageListProps {
  readonly filter: Filter;
  readonly cursor: string | undefined;
  /** Of the filter, once it is known. */
  readonly endpoint: Endpoint | null;
}

/** One page of the list. */
function MessageList({ filter, cursor, endpoint }: MessageListProps) {
  const isFirst = cursor === undefined;
  const merge = (page: ListPage<Message>, message: Message) => merged(page, message, filter, isFirst);
  const list = useResource<ListPage<Message>>(
    () =>
      call((client) => client.messages.list({ ...filter, cursor, limit: PAGE_SIZE, preview: LOADED_LENGTH }).page()),
    [],
    (page) => [...latest()].reduce(merge, page),
  );
  const { data } = list;
  useReloadWhenLive(list.reload);
  useMessageEvents((message) => {
    list.set((page) => merge(page, message));
  }, []);
  const selection = useSelection();
  const hasMore = !isFirst || (data !== null && data.nextCursor !== null);

  // Rows under the pointer, the focus or the eyes stay where they are, and those that are selected.
  const top = useRef('');
  const [, setLooks] = useState(0);
  const newestId = data?.data[0]?.id ?? '';
  if (top.current === '' || (selection.ids.size === 0 && !isHeld())) top.current = newestId;
  const rows = data === null ? [] : data.data.filter(({ id }) => id <= top.current);
  const news = (data?.data.length ?? 0) - rows.length;
  const showNews = () => {
    top.current = newestId;
    focusHeading();
    scrollTo(0, 0);
    setLooks((last) => last + 1);
  };
  const isWaiting = news > 0;
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => {
      setLooks((last) => last + 1);
    }, LOOK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isWaiting]);

  useEffect(takePlace, []);

  return (
    <>
      {isWaiting && (
        <div class="news" role="status">
          <Button onClick={showNews}>{count(news, 'new message')}</Button>
        </div>
      )}
      <Loaded resource={list} rows={8}>
        {({ data: all, nextCursor }) => (
          <>
            {all.length === 0 ? (
              <NoMessages filter={filter} endpoint={endpoint} isFirstPage={isFirst} />
            ) : (
              <MessageTable messages={rows} selection={can('messages:send') ? selection : null} />
            )}
            {selection.ids.size > 0 && <Selected {...{ messages: rows, selection, filter, endpoint, hasMore }} />}
            {hasMore && (
              <nav class="pager" aria-label="Pages">
                {!isFirst && (
                  <a class="button plain" href={href('messages', filter)}>
                    <Icon name="back" />
                    <span>Newest</span>
                  </a>
                )}
                {nextCursor !== null && (
                  <a class="button plain" href={href('messages', { ...filter, cursor: nextCursor })}>
                    <span>Older</span>
                    <Icon name="next" />
                  </a>
                )}
              </nav>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

interface NoMessagesProps extends Pick<MessageListProps, 'filter' | 'endpoint'> {
  readonly isFirstPage: boolean;
}

function NoMessages({ filter, endpoint, isFirstPage }: NoMessagesProps) {
  if (isFiltering(filter) || !isFirstPage) {
    const { status, ...others } = filter;
    const are = status === undefined ? '' : ` are ${status}`;
    return (
      <Empty title={isFirstPage ? `No ${describe(others, nameOf(endpoint))}${are}` : 'No older messages'}>
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

const nameOf = (endpoint: Endpoint | null) => (endpoint === null ? undefined : endpointName(endpoint));

/** Whether rows that are added would move what somebody looks at or is about to press. */
function isHeld(): boolean {
  return scrollY > 0 || document.querySelector(':is(.messages, .news):is(:hover, :focus-within)') !== null;
}
