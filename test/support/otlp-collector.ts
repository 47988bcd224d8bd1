import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = string | number | boolean;

/** A span as a collector receives it, with its attributes by name. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  service: string;
  attributes: Record<string, Value>;
  /** 2 means an error. */
  status: { code?: number };
}

interface ReceivedMetric {
  name: string;
  sum?: { dataPoints: { asDouble: number; attributes: Attribute[] }[] };
  gauge?: { dataPoints: object[] };
  histogram?: { dataPoints: { count: number; bucketCounts: number[]; explicitBounds: number[] }[] };
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean };
}

interface Export {
  resourceSpans?: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes' | 'service'> & { attributes: Attribute[] })[] }[];
  }[];
  resourceMetrics?: { scopeMetrics: { metrics: ReceivedMetric[] }[] }[];
}

/** A collector that receives OTLP over HTTP with JSON. */
export interface OtlpCollector {
  url: string;
  spans: ReceivedSpan[];
  metrics: Map<string, ReceivedMetric>;
  headers: IncomingHttpHeaders[];
  /** Everything received, unchanged. */
  text(): string;
  of(traceId: string): ReceivedSpan[];
  /** Answers with this from now on, instead of 200. */
  answer(respond: ((response: ServerResponse) => void) | undefined): void;
  close(): Promise<void>;
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, ReceivedMetric>();
  const headers: IncomingHttpHeaders[] = [];
  const bodies: string[] = [];
  let respond: ((response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (respond) return respond(response);
      headers.push(request.headers);
      const body = Buffer.concat(chunks).toString();
      bodies.push(body);
      const received = JSON.parse(body) as Export;
      spans.push(...spansOf(received));
      for (const metric of metricsOf(received)) metrics.set(metric.name, metric);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    headers,
    text: () => bodies.join('\n'),
    of: (traceId) => spans.filter((span) => span.traceId === traceId),
    answer: (next) => void (respond = next),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The names of a span's ancestors and its own, outermost first. */
export function pathOf(spans: readonly ReceivedSpan[], span: ReceivedSpan): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent ? pathOf(spans, parent) : []), span.name];
}

function spansOf({ resourceSpans = [] }: Export): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(named(resource.attributes)['service.name']);
    return scopeSpans
      .flatMap((scope) => scope.spans)
      .map(({ attributes, ...span }) => ({ ...span, service, attributes: named(attributes) }));
  });
}

function metricsOf({ resourceMetrics = [] }: Export): ReceivedMetric[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
}

function named(attributes: readonly Attribute[]): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value as Record<string, Value>)[0] as Value]),
  );
}
