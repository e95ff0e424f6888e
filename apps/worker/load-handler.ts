import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect, types } from 'node:util';
import { resolve } from 'import-meta-resolve';
import type { Delivery, MessageHandler } from '#delivery/index.js';
import { withTimeout } from '#kernel/timeout.js';
import { withoutExit } from '#platform/process/exit.js';
import { UsageError } from '#platform/process/usage-error.js';

type Handle = (delivery: Delivery, signal: AbortSignal) => unknown;

/** A path begins with `./`, `../` or `/`. A package has a name as in package.json, and may have a path in it. */
export function isPathOrPackage(text: string): boolean {
  return /^(\.{0,2}\/.+|(@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(\/[\w./-]+)?)$/.test(text);
}

/**
 * Loads a handler that is not part of Sluice: the default export of a module, which is a function, or a class or an
 * object with the method `handle`.
 * @param name the path of a file, or the name of a package that is installed in the folder
 * @param folder to which a path is relative
 * @param loadingMs how long its top-level `await` may take
 * @throws UsageError when it cannot be found or loaded, or exports no handler
 */
export async function loadHandler(name: string, folder: string, loadingMs = 30_000): Promise<MessageHandler> {
  const path = find(name, folder);
  const ended = `worker: HANDLER names "${name}", which ended the process while it was loaded.`;
  const handle = await withoutExit(ended, () => load(name, path, loadingMs));
  return {
    handle: async (delivery, signal) => {
      await assertDone(await handle(delivery, signal));
    },
  };
}

function find(name: string, folder: string): string {
  const parent = join(folder, 'handler');
  const ways = [
    () => createRequire(parent).resolve(name),
    // A package may be for `import` only.
    () => fileURLToPath(resolve(name, pathToFileURL(parent).href)),
  ];
  for (const way of isBuiltin(name) ? [] : ways) {
    try {
      const path = way();
      if (existsSync(path)) return path;
    } catch {
      // The next one may find it.
    }
  }
  throw new UsageError(`HANDLER names "${name}", which is neither a handler of Sluice nor found from ${folder}.`);
}

async function load(name: string, path: string, loadingMs: number): Promise<Handle> {
  try {
    // Without a timer, Node.js would end without a word.
    const { default: exported } = await withTimeout(
      import(pathToFileURL(path).href) as Promise<{ readonly default?: unknown }>,
      loadingMs,
      () => {
        throw new UsageError(
          `HANDLER names "${name}", whose top-level await has not ended within ${loadingMs / 1_000} s.`,
        );
      },
    );
    // TypeScript and others compile a default export to the property `default` of a CommonJS module's exports.
    const isCompiled = typeof exported === 'object' && exported !== null && 'default' in exported;
    const handle = handleOf(isCompiled ? exported.default : exported);
    if (handle !== null) return handle;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Its stack shows the author of the handler where the error is.
    throw new UsageError(`HANDLER names "${name}", which cannot be loaded: ${stackOf(error)}`);
  }
  throw new UsageError(
    'HANDLER must name a module whose default export is a function, or a class or an object with a method "handle", ' +
      `but no generator; ${path} has none.`,
  );
}

/** Anything can be thrown. */
function stackOf(error: unknown): string {
  if (error instanceof Error) return error.stack ?? error.message;
  return typeof error === 'string' ? error : inspect(error);
}

function handleOf(exported: unknown): Handle | null {
  const object: unknown = isClass(exported) ? new exported() : exported;
  const handle: unknown = typeof object === 'object' && object !== null && 'handle' in object ? object.handle : object;
  // Nothing runs the body of a generator.
  if (typeof handle !== 'function' || types.isGeneratorFunction(handle)) return null;
  return handle.bind(object) as Handle;
}

/** Whether it must be called with `new`: by its syntax, or, in older JavaScript, since its prototype has `handle`. */
function isClass(exported: unknown): exported is new () => object {
  if (typeof exported !== 'function') return false;
  const prototype = Object.getOwnPropertyDescriptor(exported, 'prototype');
  if (prototype === undefined) return false;
  const { value, writable } = prototype as { readonly value: unknown; readonly writable?: boolean };
  return writable === false || (typeof value === 'object' && value !== null && 'handle' in value);
}

/**
 * A handler that returns what still has to be called or awaited has not done its work yet.
 * @throws Error for a function, an iterator, an object with a method `handle`, and a list of promises
 */
async function assertDone(returned: unknown): Promise<void> {
  const uncalled = uncalledIn(returned);
  if (uncalled !== null) throw new Error(`The handler returned ${uncalled}, which nothing calls.`);
  if (!Array.isArray(returned) || !returned.some((one) => hasMethod(one, 'then'))) return;
  // The next attempt must not overlap with them, and one that fails must not end the process.
  await Promise.allSettled(returned);
  throw new Error('The handler returned a list of promises, which nothing awaits: return Promise.all() of it.');
}

function uncalledIn(returned: unknown): string | null {
  if (typeof returned === 'function') return 'a function';
  if (hasMethod(returned, 'next')) return 'an iterator';
  return hasMethod(returned, 'handle') ? 'an object with a method "handle"' : null;
}

function hasMethod(object: unknown, name: string): boolean {
  return typeof (Object(object) as Record<string, unknown>)[name] === 'function';
}
