/** Characters. A CHECK of the table repeats it. */
export const MAX_TYPE = 128;

export const MESSAGE_TYPE = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/** Types that begin with this word are of operational events, which only Sluice sends. */
const RESERVED_WORD = 'sluice';

/** Why a type can't be of a message, as a sentence for the caller; null when it can. */
export function messageTypeError(type: string): string | null {
  if (type.length > MAX_TYPE || !MESSAGE_TYPE.test(type)) {
    return `type must be words of letters, digits, _ and - joined by dots, at most ${MAX_TYPE} characters.`;
  }
  if (isReserved(type)) return `type must not begin with ${RESERVED_WORD}: it is reserved.`;
  return null;
}

/** Whether a type begins with the word that is reserved. */
export function isReserved(type: string): boolean {
  return type.split('.', 1)[0] === RESERVED_WORD;
}
