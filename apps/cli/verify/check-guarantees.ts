import type { Ledger } from './ledger.js';
import type { MessageView } from './service.js';
import { isOpen } from './stored-messages.js';

export interface Guarantee {
  readonly text: string;
  /** Each violation, as a sentence. */
  readonly violations: readonly string[];
  /** What may yet be kept, or was up to others, likewise. */
  readonly unknown?: readonly string[];
}

/**
 * Compares the stored messages with the ledger.
 * @param stored all messages of this ledger that the service lists
 * @param unexpected violations found in responses
 * @param consumers who have had all delivered messages; null where others had them
 * @param areAlone whether it is known that nobody else had messages; else a failed one says nothing, either
 */
export function checkGuarantees(
  ledger: Ledger,
  stored: readonly MessageView[],
  unexpected: readonly string[],
  consumers: { has(id: string): boolean } | null = null,
  areAlone = true,
): Guarantee[] {
  const byNumber = new Map<number, MessageView[]>();
  for (const message of stored) {
    const n = ledger.numberOf(message.message) ?? -1;
    byNumber.set(n, [...(byNumber.get(n) ?? []), message]);
  }
  const lost: string[] = [];
  const undelivered: string[] = [];
  const unknown: string[] = [];
  const refusedButStored: string[] = [];
  const duplicated: string[] = [];
  const changedIds: string[] = [];
  for (const [n, { outcome, id = '', otherIds }] of ledger.entries.entries()) {
    const found = byNumber.get(n) ?? [];
    const name = `message ${n}`;
    if (found.length > 1) {
      duplicated.push(`${name} is stored ${found.length} times: ${found.map((message) => message.id).join(', ')}`);
    }
    if (otherIds !== undefined) changedIds.push(`${name} was acknowledged as ${[id, ...otherIds].join(' and ')}`);
    if (outcome === 'refused' && found.length > 0) refusedButStored.push(`${name} was refused and is stored`);
    if (outcome !== 'acknowledged') continue;
    const message = found.find((candidate) => candidate.id === id);
    if (message === undefined) lost.push(`${name} was acknowledged as ${id} and is not stored`);
    else if (message.message !== ledger.textOf(n)) lost.push(`${name} is stored with another text`);
    else if (isOpen(message)) unknown.push(`${name} (${id}) is ${message.status}`);
    else if (message.status !== 'delivered' || message.attempts < 1) {
      (areAlone ? undelivered : unknown).push(`${name} (${id}) is ${message.status}`);
    } else if (consumers?.has(id) === false) {
      (areAlone ? undelivered : unknown).push(`${name} (${id}) is delivered, and no consumer had it`);
    }
  }
  return [
    { text: 'acknowledged messages are stored', violations: lost },
    { text: 'acknowledged messages are delivered at least once', violations: undelivered, unknown },
    { text: 'refused messages are not stored', violations: refusedButStored },
    { text: 'repeated messages are stored at most once', violations: duplicated },
    { text: 'a repetition returns the first id', violations: changedIds },
    { text: 'each response is a 202, a 429 or a 503 in JSON', violations: unexpected },
  ];
}
