/**
 * What Node.js is started with to serve. Every request under way outlives the collection of a small young generation,
 * which then copies all of them, several times: with 64 MiB instead of 16 each costs a quarter less (docs/performance.md).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=64'];
