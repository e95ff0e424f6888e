import { href } from './router.js';

/** An id of a message or an endpoint, wherever it stands in a text. */
const ID = /\b(?:msg|ep)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/;

/** The first id in a text, such as a line of a log. */
export const idIn = (text: string): string | undefined => ID.exec(text)?.[0];

/** Where what has this id is shown. */
export const hrefOf = (id: string): string => href(`${id.startsWith('ep_') ? 'endpoints' : 'messages'}/${id}`);
