import { CONTENT } from '../../domain/message-content.js';
import { OVERHEAD_BYTES } from '../../domain/message-size.js';

/** The size of the content, as `contentBytes` computes it. @param row the name of its row, followed by a dot */
export const contentBytes = (row = ''): string =>
  CONTENT.filter(({ kind }) => kind !== 'time')
    .map(({ column, kind, isRequired }) => {
      const bytes = `octet_length(${row}${column}${kind === 'object' ? '::text' : ''})`;
      return isRequired ? bytes : `coalesce(${bytes}, 0)`;
    })
    .join(' + ');

/** The size of a message, as `bytesOf` computes it. */
export const BYTES = `${contentBytes()} + ${OVERHEAD_BYTES}`;
