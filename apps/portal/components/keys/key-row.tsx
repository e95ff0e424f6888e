import type { ComponentChildren } from 'preact';
import type { ApiKey, Scope } from '#client/index.js';
import { formatDate, formatMoment } from '../../text/format.js';
import { useNow } from '../../loading/hooks.js';
import { Badge, Fact, Time } from '../parts.js';
import { nameHidden } from '../../text/hidden-characters.js';

const DAY_MS = 86_400_000;
const SOON_MS = 7 * DAY_MS;

export const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  'messages:send': 'Send, cancel and retry messages',
  'messages:read': 'Read messages and follow their events',
  'messages:consume': 'Pull messages',
  'account:manage': 'Usage, API keys and webhooks',
};

export const SCOPES = Object.keys(SCOPE_TEXTS) as readonly Scope[];

interface KeyRowProps {
  readonly apiKey: ApiKey;
  readonly badge?: ComponentChildren;
  /** The buttons. */
  readonly children: ComponentChildren;
}

export function KeyRow({
  apiKey: { id, name, hint, scopes, createdAt, lastUsedAt, expiresAt },
  badge,
  children,
}: KeyRowProps) {
  return (
    <li class="row">
      <div class="row-main">
        <h2>
          <bdi>{nameHidden(name)}</bdi> {badge}
          <Expiry expiresAt={expiresAt} />
        </h2>
        <code class="sub">{id}</code>
        {hint !== null && (
          <code class="sub" title="How the key begins and ends">
            {hint}
          </code>
        )}
        <ul class="scopes" aria-label="Scopes">
          {scopes.map((scope) => (
            <li key={scope} title={SCOPE_TEXTS[scope]}>
              {scope}
            </li>
          ))}
        </ul>
      </div>
      <dl class="row-facts">
        <Fact name="Created">{formatDate(createdAt)}</Fact>
        <Fact name="Last used">{lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}</Fact>
      </dl>
      <div class="actions">{children}</div>
    </li>
  );
}

function Expiry({ expiresAt }: { expiresAt: string | null }) {
  const now = useNow(60_000);
  if (expiresAt === null) return null;
  const left = new Date(expiresAt).getTime() - now;
  if (left <= 0) return <Badge tone="bad">expired</Badge>;
  const at = left < DAY_MS ? formatMoment(expiresAt) : formatDate(expiresAt);
  return <Badge tone={left < SOON_MS ? 'warn' : 'quiet'}>expires {at}</Badge>;
}
