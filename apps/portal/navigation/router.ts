import { signal } from '@preact/signals';
import { leavePlace } from './places.js';

/** Routes are the fragment of the URL, such as `#/messages?status=failed`, so that the server knows one page only. */
export interface Route {
  /** Without slashes; empty for `#/`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** The token of a link to the portal that was opened, until it is exchanged. */
export const linkToken = signal(takeToken());
export const route = signal(parse(location.hash));

addEventListener('hashchange', () => {
  leavePlace();
  linkToken.value = takeToken() ?? linkToken.value;
  route.value = parse(location.hash);
  noteOpened();
});

/** How many views and dialogs were opened. */
let opened = 0;

export function noteOpened(): void {
  opened++;
}

/** It belongs neither into the history nor on the screen. */
function takeToken(): string | null {
  const token = /^#link=(.*)$/.exec(location.hash)?.[1] ?? null;
  if (token !== null) history.replaceState(null, '', '#/');
  return token;
}

/** @param query leaves out what is null, missing or empty */
export function href(path: string, query: Readonly<Record<string, string | null | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path}${search === '' ? '' : `?${search}`}`;
}

export function open(to: string): void {
  location.hash = to;
}

/**
 * For an action that opens a view when it is done.
 * @returns opens the view, unless the visitor has opened another one, or a dialog, since this call
 */
export function opener(go = open): (to: string) => void {
  const began = opened;
  return (to) => {
    if (opened === began) go(to);
  };
}

/** Without an entry in the history: Back should not lead here. */
export function replace(to: string): void {
  location.replace(to);
}

function parse(hash: string): Route {
  const [place = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const path = place.split('/').filter(Boolean);
  // No id is one of these, and with one a request would have another path: there is nothing at such an address.
  const dots = path.filter((part) => part === '.' || part === '..');
  return { path: dots.length > 0 ? dots : path, query: new URLSearchParams(search) };
}
