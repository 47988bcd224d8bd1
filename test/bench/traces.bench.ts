import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '#platform/logging.js';
import { createRegistry } from '#platform/metrics.js';
import { startTelemetry } from '#platform/telemetry/telemetry.js';
import { currentTrace, openRequest, type SpanPlan, traced } from '#platform/tracing.js';
import { messageOf, withChildren } from './children.js';
import { percentile, printTable } from './report.js';

/**
 * Processor time of a call's spans, without the call. It is the same on a busy machine, where the rest of an image
 * would hide it. The spans are those of an image in standalone mode. The collector is a separate process.
 */
export interface TracesBenchOptions {
  rounds: number;
  calls: number;
  json: boolean;
}

/** The fraction of calls that is recorded; undefined turns tracing off. */
const PARTS = [undefined, 0, 0.05, 1] as const;
/** Like a busy relay. With more, some would wait for longer than spans are kept. */
const AT_ONCE = 100;
const PAUSE_MS = 25;
const WARM_UP_CALLS = 5_000;

export function benchTraces({ rounds, calls, json }: TracesBenchOptions): Promise<void> {
  return withChildren(async (children) => {
    const { port } = await messageOf<{ port: number }>(
      children.fork(new URL('./compare-bench.collector.js', import.meta.url)),
    );
    const endpoint = `http://127.0.0.1:${port}`;
    const measured = PARTS.map((part) => ({ part, micros: [] as number[] }));
    for (let round = 0; round < rounds; round += 1) {
      process.stderr.write(`traces: round ${round + 1} of ${rounds}\n`);
      for (const { part, micros } of measured) micros.push(await microsOf(endpoint, part, calls));
    }
    report(
      measured.map(({ part, micros }) => ({ part: part ?? null, micros: percentile(micros, 0.5) })),
      json,
    );
  });
}

async function microsOf(endpoint: string, part: number | undefined, calls: number): Promise<number> {
  const config = { endpoint, headers: {}, resource: {}, ratio: part ?? 0, metricsEveryMs: undefined };
  const decided = { ...config, clientsDecide: false, tellsUpstreams: false };
  const parts = { program: 'bench', registry: createRegistry('bench'), log: createLogger('bench', 'warn') };
  const telemetry = await startTelemetry(part === undefined ? undefined : decided, parts);
  await manyCalls(WARM_UP_CALLS);
  const before = process.cpuUsage();
  await manyCalls(calls);
  await telemetry.stop();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

async function manyCalls(count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, call));
    await pause(PAUSE_MS);
  }
}

const ID = '01m8a84xam3skg211c6fjp186k';

/** The spans of one image in standalone mode. */
async function call(): Promise<void> {
  const span = openRequest('POST /v1/images/generations', undefined);
  span?.note({ 'http.request.method': 'POST', 'http.route': '/v1/images/generations' });
  span?.note({ 'tollgate.request.id': ID });
  await (span ? span.enter(parts) : parts());
  span?.note({ 'http.response.status_code': 200 });
  span?.end();
}

async function parts(): Promise<void> {
  await traced('route', {}, nothing);
  const held = { 'tollgate.charge.id': ID, 'gen_ai.request.model': 'imgmodel-4' };
  await traced('hold', { facts: held }, async (span) => {
    await traced('request charge.requested', sending('charge.requested'), () => handled('charge.requested'));
    span.note({ 'tollgate.hold.amount': '0.02' });
  });
  const asked = {
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.output.type': 'image',
    'gen_ai.request.model': 'imgmodel-4',
    'tollgate.channel.id': ID,
  };
  await traced('generate_content imgmodel-4', { kind: 'client', facts: asked }, async (span) =>
    span.note({ 'tollgate.outcome': 'delivered', 'http.response.status_code': 200 }),
  );
  await traced('settle', { facts: { 'tollgate.charge.id': ID } }, () =>
    traced('publish charge.resolved', sending('charge.resolved'), () => handled('charge.resolved')),
  );
}

function sending(topic: string): SpanPlan {
  return {
    kind: 'producer',
    facts: { 'messaging.destination.name': topic, 'messaging.operation.type': 'send' },
  };
}

function handled(topic: string): Promise<void> {
  const facts = {
    'messaging.destination.name': topic,
    'messaging.operation.type': 'process',
    'messaging.consumer.group.name': 'billing',
  };
  return traced(`process ${topic}`, { kind: 'consumer', parent: currentTrace(), facts }, nothing);
}

async function nothing(): Promise<void> {}

function report(results: { part: number | null; micros: number }[], json: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ bench: 'traces', results })}\n`);
  const off = results[0]!.micros;
  printTable(
    ['recorded', 'µs a call', 'more than off'],
    results.map(({ part, micros }) => [
      part === null ? 'off' : String(part),
      micros.toFixed(1),
      (micros - off).toFixed(1),
    ]),
  );
}
