import { modesWith } from '#kernel/delivery-mode.js';

/** Whether a rule of DELIVERY_MODES holds for the mode in a column. */
const holds =
  (rule: Parameters<typeof modesWith>[0]) =>
  (column: string): string => {
    const modes = modesWith(rule).map((mode) => `'${mode}'`);
    return modes.length === 1 ? `${column} = ${modes.join('')}` : `${column} IN (${modes.join(', ')})`;
  };

export const hasJob = holds('hasJob');
export const hasEndpoints = holds('hasEndpoints');
export const isLeased = holds('isLeased');
