import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { hostname } from 'node:os';
import { useTracing } from '../tracing.js';
import { version } from '../version.js';
import { waitAtMost } from '../waiting.js';
import { RegistryProducer } from './registry.producer.js';
import { SdkTracing } from './sdk-tracing.js';
import { SpanPost } from './span.post.js';
import type { Telemetry, TelemetryConfig, TelemetryParts } from './telemetry.config.js';

/** The time limit of one attempt to reach the collector, and of all attempts for one batch. */
const ATTEMPT_MS = 5_000;
/** The time limit for the rest at the end. */
const STOP_LIMIT_MS = 2_000;
const MAX_VALUE_CHARS = 256;

/** Sends the spans and metrics of this process to a collector, over HTTP with JSON. */
export function startOtlp(config: TelemetryConfig, parts: TelemetryParts): Telemetry {
  const resource = resourceOf(config, parts.program);
  const traces = startTraces(config, parts, resource);
  const metrics = startMetrics(config, parts, resource);
  return {
    stop: async () => {
      useTracing(undefined);
      await waitAtMost(STOP_LIMIT_MS, Promise.allSettled([traces.shutdown(), metrics?.shutdown()]));
    },
  };
}

function startTraces(config: TelemetryConfig, parts: TelemetryParts, resource: Resource): TracerProvider {
  const exporter = new OTLPTraceExporter({ ...wayTo(config, 'traces') });
  const provider = new TracerProvider({
    resource,
    // Whether a call is recorded is decided before a span starts.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARS },
    spanProcessors: [new SpanPost(exporter, { ...parts, timeoutMs: ATTEMPT_MS })],
  });
  useTracing(new SdkTracing(provider.getTracer('tollgate', version), config));
  return provider;
}

function startMetrics(
  config: TelemetryConfig,
  { registry }: TelemetryParts,
  resource: Resource,
): MeterProvider | undefined {
  const { metricsEveryMs: everyMs } = config;
  if (everyMs === undefined) return undefined;
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(wayTo(config, 'metrics')),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(ATTEMPT_MS, everyMs),
    metricProducers: [new RegistryProducer(registry)],
  });
  return new MeterProvider({ resource, readers: [reader] });
}

function wayTo({ endpoint, headers }: TelemetryConfig, signal: 'traces' | 'metrics') {
  return { url: `${endpoint}/v1/${signal}`, headers, timeoutMillis: ATTEMPT_MS, concurrencyLimit: 2 };
}

function resourceOf({ resource }: TelemetryConfig, program: string): Resource {
  const own = {
    'service.name': `tollgate-${program}`,
    'service.version': version,
    'service.instance.id': `${hostname()}-${process.pid}`,
  };
  return defaultResource().merge(resourceFromAttributes({ ...own, ...resource }));
}
