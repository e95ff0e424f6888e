import type { Logger } from '../logging.js';
import type { Settings } from '../settings.js';
import type { Tracing } from './tracing.js';

/**
 * @param processName the service's name, after "sluice-", unless `OTEL_SERVICE_NAME` says another
 * @returns null when no collector is set: then not even the SDK is loaded
 */
export async function openTracing(settings: Settings, processName: string, logger: Logger): Promise<Tracing | null> {
  if (!settings.tracing) return null;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(`sluice-${processName}`, logger);
}
