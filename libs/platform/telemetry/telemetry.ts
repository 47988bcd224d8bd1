import type { Telemetry, TelemetryConfig, TelemetryParts } from './telemetry.config.js';

/** Loads the SDK only if it is needed, because its start costs memory and time. */
export async function startTelemetry(
  config: TelemetryConfig | undefined,
  parts: TelemetryParts,
): Promise<Telemetry> {
  if (!config) return { stop: async () => undefined };
  const { startOtlp } = await import('./otlp.js');
  return startOtlp(config, parts);
}
