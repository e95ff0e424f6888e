import type { FastifyRequest } from 'fastify';
import { BufferBudget } from './buffer-budget.js';

const KIB = 1_024;
/** A caller may have 256 KiB, and all anonymous clients together as well. */
const MAX = 1_024 * KIB;

describe('BufferBudget', () => {
  let budget: BufferBudget;
  let cut: string[];
  beforeEach(() => {
    budget = new BufferBudget(MAX);
    cut = [];
  });

  /** A transfer of an account, or of an address. */
  const open = (by: string, name = by) => {
    const request = by.includes('.') ? { clientAddress: by } : { caller: { accountId: by } };
    return budget.open(request as unknown as FastifyRequest, () => cut.push(name));
  };
  const sent = (by: string, kib: number, name = by) => {
    const transfer = open(by, name);
    return { transfer, passes: transfer.add(kib * KIB) };
  };
  const fill = () => {
    for (const by of ['a', 'b', 'c', 'd']) for (const part of [1, 2]) sent(by, 128, `${by}${part}`);
  };

  it('refuses what is more than a quarter of one caller, and what was refused no longer counts', () => {
    const first = sent('a', 200);
    expect([first.passes, sent('a', 57).passes, sent('a', 56).passes]).toEqual([true, false, true]);
    first.transfer.close();
    expect([sent('a', 200).passes, budget.bytes]).toEqual([true, 256 * KIB]);
  });

  it('cuts the newest transfers of the caller that has most when others need room', () => {
    fill();
    expect(sent('e', 100).passes).toBe(true);
    expect([cut, budget.bytes]).toEqual([['a2'], (1_024 - 28) * KIB]);
    expect(sent('e', 120).passes).toBe(true);
    expect(cut).toEqual(['a2', 'b2']);
    // It has most itself.
    expect(sent('e', 130).passes).toBe(false);
  });

  it('does not cut what was kept, nor refuse a caller that has 64 KiB', () => {
    for (const by of ['a', 'b', 'c', 'd']) sent(by, 256).transfer.keep();
    expect([sent('e', 64).passes, sent('e', 1).passes, cut]).toEqual([true, false, []]);
  });

  it('does not count what has not arrived, nor what was closed twice', () => {
    for (let count = 0; count < 10_000; count++) open('a');
    const { transfer } = sent('b', 100);
    transfer.close();
    transfer.close();
    expect(budget.bytes).toBe(0);
    expect(transfer.add(1)).toBe(false);
  });

  it('gives clients without a key a quarter of all, and one address a quarter of that', () => {
    expect([sent('192.0.2.1', 65).passes, sent('192.0.2.1', 64).passes]).toEqual([false, true]);
    for (const by of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) sent(by, 64);
    expect(sent('a', 256).passes).toBe(true);
    expect([sent('192.0.2.5', 1).passes, cut]).toEqual([true, []]);
  });
});
