import type { ComponentChildren } from 'preact';
import { Logo } from '../shell/logo.js';
import { ThemeButton } from '../shell/theme-button.js';

interface WelcomeProps {
  readonly title: string;
  readonly lead: string;
  readonly links?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The page for visitors who are not signed in. */
export function Welcome({ title, lead, links, children }: WelcomeProps) {
  return (
    <div class="welcome">
      <header>
        <span class="brand">
          <Logo /> Sluice
        </span>
        {links !== undefined && <nav aria-label="Links">{links}</nav>}
        <ThemeButton />
      </header>
      <main>
        <section class="pitch">
          <h1>{title}</h1>
          <p class="lead">{lead}</p>
        </section>
        {children}
      </main>
    </div>
  );
}
