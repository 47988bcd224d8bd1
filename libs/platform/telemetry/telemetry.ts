import type { Telemetry, TelemetryConfig, TelemetryParts } from './telemetry.config.js';

/** Loads the SDK only where it is wanted: it costs memory and time to start. */
export async function startTelemetry(
  config: TelemetryConfig | undefined,
  parts: TelemetryParts,
): Promise<Telemetry> {
  if (!config) return { stop: async () => undefined };
  const { startOtlp } = await import('./otlp.js');
  return startOtlp(config, parts);
}
