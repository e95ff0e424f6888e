import type { ComponentChildren, JSX } from 'preact';
import { nameHidden } from '../../text/hidden-characters.js';
import { href, route } from '../../navigation/router.js';
import { Banners } from './banners.js';
import { IconButton } from '../button.js';
import { Icon, type IconName } from '../icon.js';
import { Logo } from './logo.js';
import { Empty, Page } from '../parts.js';
import { ThemeButton } from './theme-button.js';

export interface Place {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** @param id what follows the path in the address */
  readonly view: (id: string | undefined) => JSX.Element;
}

interface ShellProps {
  readonly places: readonly Place[];
  /** Between the places and who is signed in. */
  readonly aside?: ComponentChildren;
  /** Who is signed in. */
  readonly who: string;
  readonly as: string;
  readonly onSignOut: () => void;
  readonly children: ComponentChildren;
}

/** The frame of every view, once somebody is signed in. */
export function Shell({ places, aside, who, as, onSignOut, children }: ShellProps) {
  const [first] = route.value.path;
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <aside class="sidebar">
        <a class="brand" href={href('')}>
          <Logo /> Sluice
        </a>
        <nav aria-label="Main">
          {places.map(({ path, label, icon }) => (
            <a key={path} href={href(path)} aria-current={path === first ? 'page' : undefined}>
              <Icon name={icon} />
              <span>{label}</span>
            </a>
          ))}
        </nav>
        <div class="sidebar-end">
          {aside}
          <div class="account">
            <div class="account-name">
              <strong title={nameHidden(who)}>{nameHidden(who)}</strong>
              <span class="plan">{as}</span>
            </div>
            <ThemeButton />
            <IconButton name="leave" label="Sign out" onClick={onSignOut} />
          </div>
        </div>
      </aside>
      <main id="main" tabIndex={-1}>
        <Banners />
        <div class="content">{children}</div>
      </main>
    </div>
  );
}

/** The fragment is the route, so that the link cannot be one. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="There is nothing at this address">
        <p>
          <a href={href('')}>Go to the start</a>
        </p>
      </Empty>
    </Page>
  );
}
