/**
 * `describe`, or `describe.skip` if a requirement of the tests is missing, which is reported.
 * @param missing the missing requirement, as a sentence; null if there is none
 */
export function describeUnless(missing: string | null): jest.Describe {
  if (missing === null) return describe;
  process.stderr.write(`Skipped: ${missing}\n`);
  return describe.skip;
}
