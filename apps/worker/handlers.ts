import type { HandlerModule } from '#delivery/delivery.module.js';
import type { MessageHandler } from '#delivery/index.js';
import type { Environment } from '#platform/process/environment.js';
import { UsageError } from '#platform/process/usage-error.js';
import { isPathOrPackage, loadHandler } from './load-handler.js';

/** The handlers that come with the worker: modules that export a `MessageHandler`, loaded on demand. */
const HANDLERS: Readonly<Record<string, () => Promise<HandlerModule | null>>> = {
  log: () => Promise.resolve(null),
  http: async () => (await import('./handlers/http/http-handler.module.js')).HttpHandlerModule,
  email: async () => (await import('./handlers/email/email-handler.module.js')).EmailHandlerModule,
};

/**
 * The handler that HANDLER selects: a built-in handler by name, or a file or package with a custom handler.
 * @returns null for `log`, which only logs deliveries
 * @throws UsageError for an unknown name, and for a file or package that has no handler
 */
export async function chosenHandler(environment: Environment): Promise<MessageHandler | HandlerModule | null> {
  const names = Object.keys(HANDLERS);
  const chosen = environment.read('HANDLER', 'log', {
    expected: `one of ${names.join(', ')}, the path of a file like ./my-handler.js, or the name of a package`,
    parse: (text) => (names.includes(text) || isPathOrPackage(text) ? text : undefined),
  });
  const load = HANDLERS[chosen];
  if (load !== undefined) return load();
  // npm runs scripts in the folder of the package, and keeps here where it was called.
  return loadHandler(chosen, environment.optional('INIT_CWD') ?? currentFolder(chosen));
}

function currentFolder(chosen: string): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError(
      `HANDLER names "${chosen}", but the folder in which this process was started does not exist any more: start it in another one.`,
    );
  }
}
