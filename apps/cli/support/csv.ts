/** What a spreadsheet would run as a formula. With an apostrophe in front, it shows it as text, as in the CSV of the API. */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180). */
export function csvLine(values: readonly (string | number | null)[]): string {
  return values.map(csvValue).join(',');
}

function csvValue(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const inert = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
