import { Environment } from '#platform/process/environment.js';
import type { HandlerModule } from '#delivery/delivery.module.js';

/** The handlers that HANDLER can name: modules that export a `MessageHandler`, loaded on demand. */
const HANDLERS: Readonly<Record<string, () => Promise<HandlerModule | null>>> = {
  log: () => Promise.resolve(null),
  http: async () => (await import('./handlers/http/http-handler.module.js')).HttpHandlerModule,
  email: async () => (await import('./handlers/email/email-handler.module.js')).EmailHandlerModule,
};

/**
 * @returns null for `log`, which only logs deliveries
 * @throws UsageError for an unknown name
 */
export async function chosenHandler(environment: Environment): Promise<HandlerModule | null> {
  const name = environment.oneOf('HANDLER', 'log', Object.keys(HANDLERS));
  return (await HANDLERS[name]?.()) ?? null;
}
