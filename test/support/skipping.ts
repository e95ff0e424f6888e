/** Why tests are skipped where all run: a file that only runs there contains them. Null elsewhere. */
export function containedIn(file: string): string | null {
  return process.env.SLUICE_TEST === 'all' ? `${file} contains the same in its long form.` : null;
}

/**
 * `describe`, or `describe.skip` if a requirement of the tests is missing, which is reported.
 * @param missing the missing requirement, as a sentence; null if there is none
 */
export function describeUnless(missing: string | null): jest.Describe {
  if (missing === null) return describe;
  process.stderr.write(`Skipped: ${missing}\n`);
  return describe.skip;
}
