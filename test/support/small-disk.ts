import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet } from './fleet.js';

const MEBIBYTE = 1_048_576;

/** The disk under the messages of a database, which can be filled and emptied. */
export interface SmallDisk {
  fill(): Promise<void>;
  empty(): Promise<void>;
  /** Call it after the database was stopped. */
  remove(): void;
}

/**
 * A file system of 32 MiB that contains the tables of messages, or, where none may be mounted, a trigger that raises the
 * error of PostgreSQL.
 */
export async function smallDisk(fleet: Fleet): Promise<SmallDisk> {
  const folder = fleet.file('small');
  try {
    mkdirSync(folder);
    const { uid, gid } = statSync(fleet.file('postgres'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=32m,uid=${uid},gid=${gid},mode=700`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
  } catch {
    process.stdout.write('No file system may be mounted here: a trigger simulates a full disk.\n');
    return fullByTrigger(fleet);
  }
  await fleet.sql(`CREATE TABLESPACE small LOCATION '${folder}'`);
  await fleet.sql(`DO $$ DECLARE partition regclass; BEGIN
    FOR partition IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'sluice.messages'::regclass LOOP
      EXECUTE format('ALTER TABLE %s SET TABLESPACE small', partition);
    END LOOP;
  END $$`);
  const filler = join(folder, 'filler');
  return {
    fill: () => {
      try {
        writeFileSync(filler, Buffer.alloc(64 * MEBIBYTE));
      } catch {
        // The disk is full, as intended.
      }
      return Promise.resolve();
    },
    empty: () => {
      rmSync(filler);
      return Promise.resolve();
    },
    remove: () => {
      execFileSync('umount', [folder]);
    },
  };
}

async function fullByTrigger(fleet: Fleet): Promise<SmallDisk> {
  await fleet.sql(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END $$`);
  return {
    fill: async () => {
      await fleet.sql('CREATE TRIGGER full_disk BEFORE INSERT ON sluice.messages EXECUTE FUNCTION full_disk()');
    },
    empty: async () => {
      await fleet.sql('DROP TRIGGER full_disk ON sluice.messages');
    },
    remove: () => undefined,
  };
}
