import { Environment } from '#platform/environment.js';
import type { HandlerModule } from '#messages/messages.module.js';

/** Handlers by the name that HANDLER gives: modules that export a `MessageHandler`, loaded when they are chosen. */
const HANDLERS: Readonly<Record<string, () => Promise<HandlerModule | null>>> = {
  log: () => Promise.resolve(null),
  http: async () => (await import('../../examples/http-handler/http-handler.module.js')).HttpHandlerModule,
  email: async () => (await import('../../examples/email-handler/email-handler.module.js')).EmailHandlerModule,
};

/**
 * @returns null for the one that only logs
 * @throws UsageError with the names there are
 */
export async function chosenHandler(environment: Environment): Promise<HandlerModule | null> {
  const name = environment.oneOf('HANDLER', 'log', Object.keys(HANDLERS));
  return (await HANDLERS[name]?.()) ?? null;
}
