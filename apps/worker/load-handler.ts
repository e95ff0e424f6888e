import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Delivery, MessageHandler } from '#delivery/index.js';
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
 * @throws UsageError when it cannot be found or loaded, or exports no handler
 */
export async function loadHandler(name: string, folder: string): Promise<MessageHandler> {
  const path = find(name, folder);
  const handle = handleOf(await load(name, path));
  if (handle !== null) return { handle: async (delivery, signal) => void (await handle(delivery, signal)) };
  throw new UsageError(
    `HANDLER must name a module whose default export is a function, or a class or an object with a method "handle"; ${path} has none.`,
  );
}

function find(name: string, folder: string): string {
  try {
    return createRequire(join(folder, 'handler')).resolve(name);
  } catch {
    throw new UsageError(`HANDLER names "${name}", which is neither a handler of Sluice nor found from ${folder}.`);
  }
}

async function load(name: string, path: string): Promise<unknown> {
  try {
    const { default: exported } = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    // TypeScript and others compile a default export to the property `default` of a CommonJS module's exports.
    const isCompiled = typeof exported === 'object' && exported !== null && 'default' in exported;
    return isCompiled ? exported.default : exported;
  } catch (error) {
    // Its stack shows the author of the handler where the error is.
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new UsageError(`HANDLER names "${name}", which cannot be loaded: ${reason}`);
  }
}

function handleOf(exported: unknown): Handle | null {
  if (typeof exported === 'function' && !isClass(exported)) return exported as Handle;
  const object: unknown = isClass(exported) ? new exported() : exported;
  if (typeof object !== 'object' || object === null || !('handle' in object)) return null;
  const { handle } = object;
  return typeof handle === 'function' ? (handle.bind(object) as Handle) : null;
}

/** Whether it is a class with the method `handle`, which cannot be called without `new`. */
function isClass(exported: unknown): exported is new () => object {
  if (typeof exported !== 'function') return false;
  const { prototype } = exported as { readonly prototype?: unknown };
  return typeof prototype === 'object' && prototype !== null && 'handle' in prototype;
}
