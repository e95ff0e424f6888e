/**
 * Flags of Node.js for the API and the worker. With a small young generation, the garbage collector copies every request
 * in progress several times; with 64 MiB instead of 16, a request costs a quarter less (docs/performance.md).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=64'];
