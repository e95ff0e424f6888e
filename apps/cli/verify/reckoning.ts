import type { Ledger } from './ledger.js';
import type { MessageView } from './service.js';

export interface Rule {
  readonly promise: string;
  /** Each case in which it was not kept, as a sentence. */
  readonly broken: readonly string[];
}

/**
 * What was promised, and where it was not kept.
 * @param stored all messages of this ledger that the service shows
 * @param unexpected what was wrong with answers
 */
export function reckon(ledger: Ledger, stored: readonly MessageView[], unexpected: readonly string[]): Rule[] {
  const byNumber = new Map<number, MessageView[]>();
  for (const message of stored) {
    const n = ledger.numberOf(message.message) ?? -1;
    byNumber.set(n, [...(byNumber.get(n) ?? []), message]);
  }
  const lost: string[] = [];
  const undelivered: string[] = [];
  const storedAll: string[] = [];
  const twice: string[] = [];
  const unsteady: string[] = [];
  for (const [n, entry] of ledger.entries.entries()) {
    const found = byNumber.get(n) ?? [];
    const name = `message ${n}`;
    if (found.length > 1)
      twice.push(`${name} is stored ${found.length} times: ${found.map(({ id }) => id).join(', ')}`);
    if (entry.others !== undefined) unsteady.push(`${name} was told ${[entry.id, ...entry.others].join(' and ')}`);
    if (entry.fate === 'refused' && found.length > 0) storedAll.push(`${name} was refused and is stored`);
    if (entry.fate !== 'acknowledged') continue;
    const own = found.find(({ id }) => id === entry.id);
    if (own === undefined) lost.push(`${name} was acknowledged as ${entry.id ?? ''} and is not stored`);
    else if (own.message !== ledger.textOf(n)) lost.push(`${name} is stored with another text`);
    else if (own.status !== 'delivered' || own.attempts < 1) undelivered.push(`${name} (${own.id}) is ${own.status}`);
  }
  return [
    { promise: 'what was acknowledged is stored', broken: lost },
    { promise: 'what was acknowledged is delivered at least once', broken: undelivered },
    { promise: 'what was refused is not stored', broken: storedAll },
    { promise: 'what was repeated is stored at most once', broken: twice },
    { promise: 'a repetition is answered with the first id', broken: unsteady },
    { promise: 'every answer was 202, 429 or a 503 in JSON', broken: unexpected },
  ];
}
