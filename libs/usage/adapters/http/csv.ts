/**
 * Values that a spreadsheet would run as a formula; with an apostrophe in front, it shows them as text. See "CSV injection"
 * of OWASP.
 */
const FORMULA = /^[=+\-@\t\r]/;

/** A table as RFC 4180 defines it, with a header line. */
export function toCsv<Row>(columns: readonly (keyof Row & string)[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map((column) => csvValue(row[column])));
  return [columns, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

function csvValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (value instanceof Date) return value.toISOString();
  const text = value as string;
  const inert = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Whether a client prefers CSV to JSON. JSON is what it gets if it does not name CSV. */
export function prefersCsv(accept: string | undefined): boolean {
  const [csv, json] = ['text/csv', 'application/json'].map((type) => qualityOf(accept ?? '', type));
  return csv !== undefined && csv > 0 && csv >= (json ?? 0);
}

/** Undefined for a type that is not named. */
function qualityOf(accept: string, type: string): number | undefined {
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
  }
  return undefined;
}
