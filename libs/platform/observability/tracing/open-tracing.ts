import type { Logger } from '../logging.js';
import type { PlatformSettings } from '../../process/settings.js';
import type { Tracing } from './tracing.js';

/**
 * @param processName what follows "sluice-" in the service name, unless `OTEL_SERVICE_NAME` is set
 * @returns null when no collector is set; the SDK is not loaded then
 */
export async function openTracing(
  settings: PlatformSettings,
  processName: string,
  logger: Logger,
): Promise<Tracing | null> {
  if (!settings.tracing) return null;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(`sluice-${processName}`, logger);
}
