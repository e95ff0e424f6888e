import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { CliError, EXIT } from '../support/exit-codes.js';

/** @throws CliError if it is a folder, which Node.js reads as if it were empty */
export function standardInput(): typeof process.stdin {
  if (fstatSync(0).isDirectory()) throw new CliError('Standard input is a folder: name a file.', EXIT.usage);
  return process.stdin;
}

/** The first bytes of an input, which may have no end. The rest of it is not read. */
export async function readAtMost(input: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the input.
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
