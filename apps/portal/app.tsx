import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { Scope } from '#client/index.js';
import { announce, Announcer } from './components/announcer.js';
import { Banners } from './components/shell/banners.js';
import { Button } from './components/button.js';
import { Contained } from './components/shell/contained.js';
import { Shortcuts } from './components/finding/shortcuts.js';
import { Icon } from './components/icon.js';
import { Empty, Page, Skeleton } from './components/parts.js';
import { PausedBanner } from './components/shell/paused.js';
import { Problem } from './components/problem.js';
import { Remaining } from './components/shell/remaining.js';
import { FirstKey } from './components/keys/first-key.js';
import { IssuedSecret } from './components/keys/issued.js';
import { NotFound, Shell, type Place } from './components/shell/shell.js';
import { useAction, useResource } from './loading/hooks.js';
import './loading/live.js';
import { href, linkToken, replace, route } from './navigation/router.js';
import { account } from './session/account.js';
import { can, findScopes, firstKey, isResuming, openLink, scopes, signOut } from './session/session.js';
import { EndpointView } from './views/endpoints/endpoint.js';
import { EndpointsView } from './views/endpoints/endpoints.js';
import { KeysView } from './views/keys.js';
import { MessageView } from './views/messages/message.js';
import { MessagesView } from './views/messages/messages.js';
import { OverviewView } from './views/overview.js';
import { SendView } from './views/send.js';
import { SettingsView } from './views/settings.js';
import { SimulatorView } from './views/simulator.js';
import { UsageView } from './views/usage.js';
import { WelcomeView } from './views/welcome.js';

interface PortalPlace extends Place {
  /** Without this scope, the place is not offered. */
  readonly scope: Scope;
}

const PLACES: readonly PortalPlace[] = [
  { path: 'overview', label: 'Overview', icon: 'overview', scope: 'account:manage', view: () => <OverviewView /> },
  { path: 'send', label: 'Send', icon: 'send', scope: 'messages:send', view: () => <SendView /> },
  {
    path: 'messages',
    label: 'Messages',
    icon: 'messages',
    scope: 'messages:read',
    view: (id) => (id === undefined ? <MessagesView /> : <MessageView key={id} id={id} />),
  },
  { path: 'usage', label: 'Usage', icon: 'usage', scope: 'account:manage', view: () => <UsageView /> },
  { path: 'keys', label: 'API keys', icon: 'keys', scope: 'account:manage', view: () => <KeysView /> },
  {
    path: 'endpoints',
    label: 'Webhooks',
    icon: 'endpoints',
    scope: 'account:manage',
    view: (id) => (id === undefined ? <EndpointsView /> : <EndpointView key={id} id={id} />),
  },
  { path: 'settings', label: 'Settings', icon: 'settings', scope: 'account:manage', view: () => <SettingsView /> },
  { path: 'simulator', label: 'Simulator', icon: 'simulator', scope: 'account:manage', view: () => <SimulatorView /> },
];

/** Where nobody who is signed in has to be, also if another tab has signed in. */
const START = ['', 'sign-in', 'sign-up'];

export function App() {
  return (
    <>
      {linkToken.value !== null ? (
        <OpeningLink key={linkToken.value} token={linkToken.value} />
      ) : scopes.value !== null ? (
        <SignedIn />
      ) : isResuming.value ? (
        <Resuming />
      ) : (
        <WelcomeView />
      )}
      <IssuedSecret />
      <Announcer />
    </>
  );
}

function SignedIn() {
  const places = PLACES.filter(({ scope }) => can(scope));
  const [first, id] = START.includes(route.value.path[0] ?? '') ? [] : route.value.path;
  const place = PLACES.find(({ path }) => path === first);
  // At once: after the next frame, it would replace what the visitor has opened meanwhile.
  useLayoutEffect(() => {
    if (first === undefined && places[0] !== undefined) replace(href(places[0].path));
  }, [route.value]);
  return (
    <Shell
      places={places}
      aside={
        <>
          <Remaining />
          <Shortcuts places={places} />
          <a class="docs-link" href="/docs" target="_blank" rel="noreferrer">
            <Icon name="docs" /> <span>API reference</span>
          </a>
        </>
      }
      who={account.value?.name ?? 'Signed in'}
      as={account.value === null ? 'with a restricted key' : `${account.value.plan} plan`}
      onSignOut={() => {
        if (firstKey.value !== null) {
          announce('Store your API key first: it is shown only once.');
          return;
        }
        signOut('You are signed out.');
      }}
    >
      <PausedBanner />
      <FirstKey />
      {place === undefined ? (
        <Nowhere isStart={first === undefined} hasPlaces={places.length > 0} />
      ) : can(place.scope) ? (
        <Contained key={route.value.path.join('/')}>{place.view(id)}</Contained>
      ) : (
        <NotAllowed scope={place.scope} />
      )}
    </Shell>
  );
}

function OpeningLink({ token }: { token: string }) {
  const { run, error } = useAction(async (signal?: AbortSignal) => {
    await openLink(token, signal);
    // Another link may have been opened meanwhile.
    if (linkToken.peek() === token) linkToken.value = null;
  });
  useEffect(() => {
    document.title = 'Opening the portal · Sluice';
    const leaving = new AbortController();
    void run(leaving.signal);
    return () => {
      leaving.abort();
    };
  }, []);
  // Another address leads on from a link that cannot be opened.
  useEffect(() => {
    if (error !== null) linkToken.value = null;
  }, [route.value]);
  return (
    <main class="centered">
      <Banners />
      <h1>Opening the portal</h1>
      {error === null ? (
        <Skeleton rows={3} label="Opening the portal" />
      ) : (
        <>
          <Problem error={error} onRetry={() => void run()} />
          <Button
            onClick={() => {
              linkToken.value = null;
              replace(href('sign-in'));
            }}
          >
            Sign in with a key
          </Button>
        </>
      )}
    </main>
  );
}

function Resuming() {
  const { error, reload } = useResource(findScopes, []);
  return (
    <main class="centered">
      <Banners />
      <h1>Signing in</h1>
      {error === null ? (
        <Skeleton rows={3} label="Signing in" />
      ) : (
        <>
          <Problem error={error} onRetry={reload} />
          <Button
            onClick={() => {
              signOut();
            }}
          >
            Sign out
          </Button>
        </>
      )}
    </main>
  );
}

/** Shown while the start leads to the first place, if there is one. */
function Nowhere({ isStart, hasPlaces }: { isStart: boolean; hasPlaces: boolean }) {
  if (!isStart) return <NotFound />;
  return hasPlaces ? null : <NothingAllowed />;
}

function NothingAllowed() {
  return (
    <Page title="Signed in">
      <Empty title="The portal has no page for this key">
        <p>
          Its only scope is <code>{[...(scopes.value ?? [])].join(', ')}</code>: programs pull messages with it. Sign in
          with a key that has another scope, such as <code>messages:read</code>.
        </p>
      </Empty>
    </Page>
  );
}

function NotAllowed({ scope }: { scope: Scope }) {
  return (
    <Page title="Not allowed">
      <Empty title="Your key may not do this">
        <p>
          This page needs a key with the scope <code>{scope}</code>. Sign in with another key, or ask somebody who
          manages the account for one.
        </p>
      </Empty>
    </Page>
  );
}
