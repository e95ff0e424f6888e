import { readPlatformSettings } from '#platform/process/settings.js';
import { Environment } from '#platform/process/environment.js';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { startErrorMessage } from '#platform/process/process.js';
import { migrateSchema } from '../schema.js';

/** Migrates the database at DATABASE_URL, as an API or a worker does when it starts. */
export async function migrate(): Promise<void> {
  try {
    const { url } = readPlatformSettings(new Environment(process.env)).database;
    await requireUsableDatabase(url);
    await migrateSchema(url);
  } catch (error) {
    throw new Error(startErrorMessage(error), { cause: error });
  }
}
