import { SharedReads } from './shared-reads.js';

describe('SharedReads', () => {
  const reads = new SharedReads();
  let started: string[];
  let ends: ((failure?: Error) => void)[];
  beforeEach(() => {
    [started, ends] = [[], []];
  });

  const read = (key: string) =>
    reads.read(key, () => {
      const name = `${key}${started.push(key)}`;
      return new Promise<string>((resolve, reject) => {
        ends.push((failure) => {
          if (failure === undefined) resolve(name);
          else reject(failure);
        });
      });
    });
  const settled = () => new Promise(setImmediate);

  it('runs one read for all waiting callers, which begins after their calls', async () => {
    const [first, ...others] = Array.from({ length: 1_000 }, () => read('a'));
    expect(started).toEqual(['a']);
    ends[0]?.();
    expect(await first).toBe('a1');
    await settled();
    expect(started).toEqual(['a', 'a']);
    const later = read('a');
    ends[1]?.();
    expect(new Set(await Promise.all(others))).toEqual(new Set(['a2']));
    await settled();
    ends[2]?.();
    expect(await later).toBe('a3');
    await settled();
    const alone = read('a');
    ends[3]?.();
    expect(await alone).toBe('a4');
  });

  it('runs reads with other keys independently', async () => {
    const both = [read('a'), read('b')];
    expect(started).toEqual(['a', 'b']);
    for (const end of ends) end();
    expect(await Promise.all(both)).toEqual(['a1', 'b2']);
  });

  it('rejects only the callers that shared a failed read', async () => {
    const [first, second, third] = [read('a'), read('a'), read('a')];
    ends[0]?.(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await settled();
    ends[1]?.(new Error('again'));
    await expect(Promise.all([second, third])).rejects.toThrow('again');
    await settled();
    const last = read('a');
    ends[2]?.();
    expect(await last).toBe('a3');
  });
});
