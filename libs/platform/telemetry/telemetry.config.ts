import type { ConfigReader } from '../config.js';
import type { Logger } from '../logging.js';
import type { Registry } from '../metrics.js';

/** Where traces and metrics go, and how much of them. */
export interface TelemetryConfig {
  /** An OTLP collector, without the paths of the signals. */
  endpoint: string;
  headers: Record<string, string>;
  resource: Record<string, string>;
  /** The part of traces that is recorded, from 0 to 1. */
  ratio: number;
  /** A client's call is recorded where its `traceparent` says that the client records it. */
  clientsDecide: boolean;
  tellsUpstreams: boolean;
  /** Undefined: no metrics are sent. */
  metricsEveryMs: number | undefined;
}

export interface TelemetryParts {
  /** Names the service, after `tollgate-`. */
  program: string;
  registry: Registry;
  log: Logger;
}

/** Something that sends in the background. */
export interface Telemetry {
  /** Sends what is left, for a limited time. Never throws. */
  stop(): Promise<void>;
}

/** @returns undefined where no collector is named */
export function readTelemetry(reader: ConfigReader): TelemetryConfig | undefined {
  const endpoint = reader.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  const config = {
    headers: pairs(reader, 'OTEL_EXPORTER_OTLP_HEADERS'),
    resource: pairs(reader, 'OTEL_RESOURCE_ATTRIBUTES'),
    ratio: Number(reader.get('OTEL_TRACES_SAMPLER_ARG')),
    clientsDecide: reader.get('TRACE_CLIENTS_DECIDE'),
    tellsUpstreams: reader.get('TRACE_UPSTREAMS'),
    metricsEveryMs: metricsEvery(reader),
  };
  return endpoint ? { endpoint, ...config } : undefined;
}

function metricsEvery(reader: ConfigReader): number | undefined {
  const everyMs = reader.get('OTEL_METRIC_EXPORT_INTERVAL');
  return reader.get('OTEL_METRICS_EXPORTER') === 'otlp' ? everyMs : undefined;
}

/** `name=value` between commas, with the value encoded as in an address: the form that OpenTelemetry prescribes. */
function pairs(
  reader: ConfigReader,
  name: 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES',
): Record<string, string> {
  const items = (reader.get(name) ?? '').split(',').filter((item) => item.trim() !== '');
  return Object.fromEntries(items.map((item) => pairOf(item) ?? reader.fault(name, RULE, ['', ''])));
}

const RULE = 'must be name=value, separated by commas, with special characters of values percent-encoded';

function pairOf(item: string): [string, string] | undefined {
  const [, key = '', value = ''] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(.*?)\s*$/.exec(item) ?? [];
  if (key === '') return undefined;
  try {
    return [key, decodeURIComponent(value)];
  } catch {
    return undefined;
  }
}
