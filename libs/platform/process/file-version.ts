import { statSync } from 'node:fs';

/** @returns a text that changes with a file, also when it is replaced; null if there is none */
export function fileVersion(path: string): string | null {
  try {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return null;
  }
}
