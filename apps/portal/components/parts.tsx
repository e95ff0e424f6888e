import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { MessageStatus } from '#client/index.js';
import { formatRelative, formatTime } from '../text/format.js';
import { useNow } from '../loading/hooks.js';
import { takePlace } from '../navigation/places.js';
import { CopyButton } from './button.js';
import { Icon } from './icon.js';

interface PageProps {
  readonly title: string;
  /** What the tab says, by which one tells it from others; by default the title. */
  readonly tab?: string | undefined;
  /** Where it belongs to. */
  readonly back?: { readonly label: string; readonly to: string };
  readonly badge?: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** What had the focus last, also after it is gone. */
let focused: Element | null = null;
addEventListener('focusin', ({ target }) => {
  focused = target instanceof Element ? target : null;
});

// Wherever it was, such as beside the views: what takes the focus along goes without an event.
new MutationObserver(() => {
  if (focused !== null && !focused.isConnected && document.activeElement === document.body) focusHeading();
}).observe(document.body, { childList: true, subtree: true });

/** Where screen readers go on: at the heading of the view, unless a dialog covers it. */
export function focusHeading(): void {
  const inDialog = document.querySelector<HTMLElement>('dialog[open] .actions button');
  (inDialog ?? document.querySelector('h1'))?.focus({ preventScroll: true });
}

/** A view. Its heading gets the focus once, so that screen readers begin there; its title may be another one by then. */
export function Page({ title, tab = title, back, badge, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // At once: after the next frame, the visitor may have clicked already.
  useLayoutEffect(() => {
    document.title = `${tab} · Sluice`;
  }, [tab]);
  useLayoutEffect(() => {
    heading.current?.focus({ preventScroll: true });
    takePlace();
  }, []);
  return (
    <>
      <header class="page-header">
        <div>
          {back !== undefined && (
            <a class="back" href={back.to}>
              <Icon name="back" /> {back.label}
            </a>
          )}
          <div class="title">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {badge}
          </div>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Card({
  title,
  children,
  actions,
}: {
  title?: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={title}>
      {title !== undefined && (
        <header class="card-header">
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

export function Figure({ title, value, children }: { title: string; value: string; children: ComponentChildren }) {
  return (
    <Card title={title}>
      <p class="figure">{value}</p>
      <p class="hint">{children}</p>
    </Card>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet';

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const STATUS_TONES: Readonly<Record<MessageStatus, Tone>> = {
  queued: 'info',
  processing: 'warn',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'quiet',
  skipped: 'quiet',
};

export function Status({ status }: { status: MessageStatus }) {
  return (
    <Badge tone={STATUS_TONES[status]}>
      <span class="status">{status}</span>
    </Badge>
  );
}

const REFRESH_MS = 5_000;

export function Time({ at }: { at: string }) {
  const now = useNow(REFRESH_MS);
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatRelative(at, now)}
    </time>
  );
}

export function Id({ id, what }: { id: string; what: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  );
}

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Takes the place of rows while they load, so that nothing moves when they are there. */
export function Skeleton({ rows = 5, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  );
}

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
