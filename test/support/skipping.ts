/**
 * `describe`, where what the tests need is there. Elsewhere they are skipped, which is said and counted as such.
 * @param missing what is not there, as a sentence; null when nothing is missing
 */
export function describeUnless(missing: string | null): jest.Describe {
  if (missing === null) return describe;
  process.stderr.write(`Skipped: ${missing}\n`);
  return describe.skip;
}
