const PATHS = {
  overview: 'M2.5 2.5h4.5v6h-4.5zM9 2.5h4.5v3h-4.5zM9 7.5h4.5v6h-4.5zM2.5 10.5h4.5v3h-4.5z',
  find: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.3l3.5 3.5',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5 14 2Z',
  messages: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h7',
  usage: 'M3 13V9M8 13V3M13 13V6.5',
  keys: 'M9.5 6.5 14 2m-1.8 1.8L14 5.6M10.6 9.8a3.3 3.3 0 1 1-4.4-4.4 3.3 3.3 0 0 1 4.4 4.4Z',
  endpoints: 'M5.5 8h5M4 10.5a2.5 2.5 0 1 1 0-5h1.5M12 5.5a2.5 2.5 0 0 1 0 5h-1.5',
  accounts: 'M8 2.5a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2ZM3 13.5c.6-2.6 2.5-4 5-4s4.4 1.4 5 4',
  bans: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2ZM4 4l8 8',
  plans: 'M8 2 14 5 8 8 2 5ZM2 8l6 3 6-3M2 11l6 3 6-3',
  audit: 'M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2',
  queue: 'M2.5 3.5h11v2.5h-11zM2.5 6.8h11v2.5h-11zM2.5 10h11v2.5h-11z',
  simulator: 'M2 11c2 0 2-6 4-6s2 6 4 6 2-6 4-6',
  settings:
    'M2.5 5h5m4 0h2M2.5 11h2m4 0h5M9.5 3.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6ZM6.5 9.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Z',
  copy: 'M6 6V3h7v7h-3M3 6h7v7H3z',
  check: 'm3 8.5 3.2 3L13 5',
  close: 'm4 4 8 8m0-8-8 8',
  more: 'M8 3.5v.01M8 8v.01M8 12.5v.01',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  next: 'M6.5 3.5 11 8l-4.5 4.5',
  plus: 'M8 3v10M3 8h10',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5L13 6m0-3v3h-3',
  leave: 'M6 3H3v10h3M10 5l3 3-3 3M13 8H6',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z',
  system: 'M2.5 3.5h11v7h-11zM6 13h4',
  docs: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3M6 8.5h4M6 11h4',
  warning: 'M8 2.5 14 13H2L8 2.5ZM8 6.5v3m0 1.9v.01',
  info: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2ZM8 7.5v3.2m0-5.6v.01',
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
