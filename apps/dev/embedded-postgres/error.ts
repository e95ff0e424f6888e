/** Its message is one sentence for whoever starts the program: what is wrong and what to do about it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export function inUse(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `${dataDir} is in use by another running sluice: stop that one, or set DATA_DIR to another folder.`,
  );
}
