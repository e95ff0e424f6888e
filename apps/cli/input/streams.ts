import type { Readable } from 'node:stream';

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
