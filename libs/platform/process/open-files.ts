/** Files that a process needs besides the connections of its clients: of the database, the queue and its log. */
const OTHERS = 200;

/**
 * How many connections a process can have, of those that it may have.
 * @param files how many files it may open; the limit of this process by default, none where there is no such limit
 */
export function connectionsWithin(max: number, files = openFilesLimit()): number {
  return Math.min(max, Math.max(files - OTHERS, Math.floor(files / 2)));
}

export function openFilesLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const limit = userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Infinity;
}
