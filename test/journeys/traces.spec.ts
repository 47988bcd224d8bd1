import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { person } from '../support/console.js';
import {
  type OtlpCollector,
  pathOf,
  type ReceivedSpan,
  startOtlpCollector,
} from '../support/otlp-collector.js';
import { LIMIT_MS } from '../support/eventually.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const IMAGE = { model: 'vendora-imagine-image', prompt: 'a secret lighthouse', n: 1 };
const VIDEO = { model: 'vendora-imagine-video', prompt: 'a secret boat [[work:0.1]]', seconds: '2' };
const CHAT = { model: 'vendora-chat', messages: [{ role: 'user', content: 'a secret' }], max_tokens: 20 };

let collector: OtlpCollector;
let receiver: WebhookReceiver;

beforeAll(async () => {
  collector = await startOtlpCollector();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await collector?.close();
  await receiver?.close();
});

/** The headers of a client that traces. */
function clientTrace(flags = '01'): { traceId: string; spanId: string; traceparent: string } {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

function settings(more: Record<string, string> = {}): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_METRICS_EXPORTER: 'none',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.05',
    ...more,
  };
}

/** Waits for a span of a trace. */
async function spanOf(traceId: string, name: string): Promise<ReceivedSpan> {
  const found = () => collector.of(traceId).find((span) => span.name === name);
  await until(`the span ${name}`, async () => found() !== undefined, {
    state: () => JSON.stringify(collector.of(traceId).map((span) => span.name)),
  });
  return found() as ReceivedSpan;
}

async function pathTo(traceId: string, name: string): Promise<string[]> {
  const span = await spanOf(traceId, name);
  let path: string[] = [];
  // A span is sent when it ends, which is before its parents end.
  await until(`what is around ${name}`, async () => {
    path = pathOf(collector.of(traceId), span);
    return path[0]?.startsWith('POST ');
  });
  return path;
}

describe('calls by clients that trace', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay(
      settings({
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_METRIC_EXPORT_INTERVAL: '200',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of%20the%20collector,x-tenant=7',
      }),
    );
    customer = await relay.customer('5');
  });
  afterAll(() => closeClean(relay));

  it('follow an image from the client to the ledger', async () => {
    const { traceId, spanId, traceparent } = clientTrace();
    const answer = await customer.send('/v1/images/generations', json(IMAGE, { traceparent }));
    expect(answer.status).toBe(200);

    const request = await spanOf(traceId, 'POST /v1/images/generations');
    expect(request).toMatchObject({ parentSpanId: spanId, kind: 2, service: 'tollgate-standalone' });
    expect(request.attributes).toMatchObject({
      'http.response.status_code': 200,
      'tollgate.request.id': answer.headers.get('x-request-id'),
    });
    const root = request.name;
    const hold = [root, 'hold', 'request charge.requested', 'process charge.requested'];
    expect(await pathTo(traceId, 'process charge.requested')).toEqual(hold);
    const settled = [root, 'settle', 'publish charge.resolved', 'process charge.resolved'];
    expect(await pathTo(traceId, 'process charge.resolved')).toEqual(settled);
    expect(await pathTo(traceId, 'route')).toEqual([root, 'route']);
    expect(await pathTo(traceId, 'store file')).toEqual([root, 'store file']);
    const attempt = await spanOf(traceId, `generate_content ${IMAGE.model}`);
    expect(pathOf(collector.of(traceId), attempt)).toEqual([root, attempt.name]);
    expect(attempt.attributes).toMatchObject({
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.output.type': 'image',
      'tollgate.outcome': 'delivered',
      'http.response.status_code': 200,
    });
    expect((await spanOf(traceId, 'hold')).attributes).toMatchObject({ 'tollgate.hold.amount': '0.02' });
  });

  it('follow a video from the client to its webhook', async () => {
    const owner = await person(relay, { accountId: customer.accountId });
    const body = { url: `${receiver.url}/video`, events: ['video.completed' as const] };
    await owner.api.POST('/api/webhooks', { body });
    const { traceId, traceparent } = clientTrace();
    const answer = await customer.send('/v1/videos', json(VIDEO, { traceparent }));
    expect(answer.status).toBe(200);

    await until('the webhook', async () => receiver.at('/video').length > 0);
    const webhook = await spanOf(traceId, 'webhook');
    expect(receiver.at('/video')[0]?.headers['traceparent']).toBe(`00-${traceId}-${webhook.spanId}-01`);
    const root = 'POST /v1/videos';
    const announced = [root, 'follow task', 'outbox'];
    expect(await pathTo(traceId, 'webhook')).toEqual([...announced, 'process video.completed', 'webhook']);
    expect(await pathTo(traceId, 'poll')).toEqual([root, 'follow task', 'poll']);
    expect(await pathTo(traceId, 'store file')).toEqual([root, 'follow task', 'store file']);
    const groups = collector
      .of(traceId)
      .filter(({ name }) => name === 'process video.completed')
      .map(({ attributes }) => attributes['messaging.consumer.group.name']);
    expect(groups.sort()).toEqual(['billing', 'notifications']);
  });

  it('name the tokens of a chat, and its error', async () => {
    const { traceId, traceparent } = clientTrace();
    expect((await customer.send('/v1/chat/completions', json(CHAT, { traceparent }))).status).toBe(200);
    const { attributes } = await spanOf(traceId, 'settle');
    expect(Number(attributes['gen_ai.usage.output_tokens'])).toBeGreaterThan(0);

    const failing = clientTrace();
    const prompt = 'lost [[fault:reject-503]]';
    const body = json({ ...IMAGE, prompt }, { traceparent: failing.traceparent });
    expect((await customer.send('/v1/images/generations', body)).status).toBe(503);
    const attempt = await spanOf(failing.traceId, `generate_content ${IMAGE.model}`);
    expect(attempt.status.code).toBe(2);
    expect(attempt.attributes['error.type']).toBe('not_accepted');
    expect(await pathTo(failing.traceId, 'process charge.resolved')).toContain('release');
  });

  it.each([
    ['none', undefined],
    ['too short', '00-1-1-01'],
    ['no hex', `00-${'x'.repeat(32)}-${'1'.repeat(16)}-01`],
    ['zeros', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`],
    ['without a version', `ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`],
    ['two of them', `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01, 00-${'2'.repeat(32)}-${'2'.repeat(16)}-01`],
    ['long', `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01-${'x'.repeat(8_000)}`],
  ])('start a trace of our own if their traceparent is %s', async (_, traceparent) => {
    const tracestate = 'evil=mark-of-a-stranger,'.repeat(100);
    const headers = { tracestate, ...(traceparent === undefined ? {} : { traceparent }) };
    const answer = await customer.send('/v1/images/generations', json(IMAGE, headers));
    expect(answer.status).toBe(200);
    const id = answer.headers.get('x-request-id');
    const ours = () => collector.spans.find((span) => span.attributes['tollgate.request.id'] === id);
    await until('the span of the call', async () => ours() !== undefined);
    expect(ours()?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(ours()?.traceId).not.toMatch(/^(0{32}|1{32}|2{32})$/);
    expect(ours()?.parentSpanId).toBeUndefined();
  });

  it('send no secrets to the collector, and appear with their IDs in the log', async () => {
    const { traceId, traceparent } = clientTrace();
    const body = json({ ...IMAGE, prompt: 'refused [[fault:reject-503]]' }, { traceparent });
    await customer.send('/v1/images/generations', body);
    await spanOf(traceId, 'POST /v1/images/generations');
    const text = collector.text();
    for (const secret of [
      customer.apiKey,
      customer.accountId,
      'lighthouse',
      'a secret',
      'mark-of-a-stranger',
    ])
      expect(text).not.toContain(secret);
    const lines = relay
      .logged()
      .split('\n')
      .filter((line) => line.includes(traceId));
    expect(lines.find((line) => line.includes('did not deliver images'))).toContain('"span_id":');
    expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer of the collector', 'x-tenant': '7' });
  });

  it('report the metrics that Prometheus reads, under the same names', async () => {
    await until('the metrics', async () => collector.metrics.has('gateway_requests_total'));
    const names = (await relay.registry.getMetricsAsJSON()).filter(({ values }) => values.length > 0);
    const missing = () => names.map(({ name }) => name).filter((name) => !collector.metrics.has(name));
    await until('all of them', async () => missing().length === 0, {
      state: () => missing().join(),
    });
    const seconds = collector.metrics.get('bus_request_seconds')?.histogram?.dataPoints[0];
    const counts = (seconds?.bucketCounts ?? []).map(Number);
    expect(counts.length).toBe((seconds?.explicitBounds.length ?? 0) + 1);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(Number(seconds?.count));
    expect(Number(seconds?.count)).toBeGreaterThan(0);
  });
});

describe('a client that leaves before its answer', () => {
  it('ends its span, and is no longer in flight', async () => {
    const relay = await startRelay(settings());
    const upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    const inFlight = async () =>
      (await relay.registry.getSingleMetric('gateway_requests_in_flight')?.get())?.values;
    try {
      const customer = await relay.customer('5');
      upstream.shut(/^POST /);
      const { traceId, traceparent } = clientTrace();
      const leaving = new AbortController();
      const call = customer.send('/v1/images/generations', {
        ...json(IMAGE, { traceparent }),
        signal: leaving.signal,
      });
      await until('the call to reach the upstream', async () => upstream.waiting === 1);
      expect(await inFlight()).toMatchObject([{ value: 1 }]);
      leaving.abort();
      await expect(call).rejects.toThrow();
      const span = await spanOf(traceId, 'POST /v1/images/generations');
      expect(span.attributes['error.type']).toBe('unfinished');
      expect(span.attributes['http.response.status_code']).toBeUndefined();
      await until('nothing to be in flight', async () => (await inFlight())?.[0]?.value === 0);
      upstream.open();
      expect(await pathTo(traceId, 'process charge.resolved')).toContain('settle');
    } finally {
      upstream.open();
      await closeClean(relay);
      await upstream.close();
    }
  });
});

describe('what a client may decide', () => {
  async function recorded(more: Record<string, string>, flags: string): Promise<string | undefined> {
    const relay = await startRelay(settings(more));
    const { traceId, traceparent } = clientTrace(flags);
    try {
      const customer = await relay.customer('5');
      const body = json({ ...IMAGE, prompt: 'x [[fault:reject-503]]' }, { traceparent });
      await customer.send('/v1/images/generations', body);
      expect(relay.logged()).toContain(traceId);
    } finally {
      // Flushes the remaining spans.
      await closeClean(relay);
    }
    return collector.of(traceId)[0]?.traceId;
  }

  it('is nothing, unless it is configured', async () => {
    expect(await recorded({ OTEL_TRACES_SAMPLER_ARG: '0' }, '01')).toBeUndefined();
    expect(await recorded({ OTEL_TRACES_SAMPLER_ARG: '1' }, '00')).toBeDefined();
    const decides = { OTEL_TRACES_SAMPLER_ARG: '0', TRACE_CLIENTS_DECIDE: 'true' };
    expect(await recorded(decides, '01')).toBeDefined();
    expect(await recorded(decides, '00')).toBeUndefined();
  });
});

describe('an upstream', () => {
  let vendor: Server;
  const seen: IncomingHttpHeaders[] = [];

  beforeAll(async () => {
    vendor = createServer((request, response) => {
      seen.push(request.headers);
      request.resume().once('end', () => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'not today' } }));
      });
    });
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    vendor.closeAllConnections();
    vendor.close();
  });

  async function headersOf(more: Record<string, string>, traceparent: string): Promise<IncomingHttpHeaders> {
    const relay = await startRelay(settings(more));
    try {
      const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
      await relay.fixture.owner.query(
        `INSERT INTO channels (id, protocol, base_url, api_key, priority) VALUES ('vendor', 'openai', $1, 'key', 9)`,
        [url],
      );
      await relay.fixture.owner.query(`INSERT INTO channel_models VALUES ('vendor', $1, $1)`, [CHAT.model]);
      await relay.fixture.owner.query(`INSERT INTO channel_groups VALUES ('vendor', 'Vendora-Main')`);
      const customer = await relay.customer('5');
      seen.length = 0;
      await customer.send('/v1/chat/completions', json(CHAT, { traceparent }));
    } finally {
      await closeClean(relay);
    }
    return seen.at(-1) as IncomingHttpHeaders;
  }

  it('receives the trace only if the operator allows it', async () => {
    const { traceId, traceparent } = clientTrace();
    const silent = await headersOf({}, traceparent);
    expect(silent['authorization']).toBe('Bearer key');
    expect(silent['traceparent']).toBeUndefined();
    const spoken = await headersOf({ TRACE_UPSTREAMS: 'true' }, traceparent);
    const attempt = await spanOf(traceId, `chat ${CHAT.model}`);
    expect(attempt).toBeDefined();
    expect(collector.of(traceId).map(({ spanId }) => spanId)).toContain(
      String(spoken['traceparent']).split('-')[2],
    );
  });
});

describe('a collector that is down', () => {
  it.each([
    ['refuses', (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/nowhere` }), 'failed'],
    ['does not listen', () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }), 'failed'],
  ])(
    '%s: calls continue, spans are dropped and counted, and stopping does not hang',
    async (_, at, outcome) => {
      collector.answer((response) => void response.writeHead(400).end());
      const relay = await startRelay(settings(at(collector.url)));
      try {
        const customer = await relay.customer('5');
        for (let call = 0; call < 3; call += 1)
          expect((await customer.send('/v1/images/generations', json(IMAGE))).status).toBe(200);
        const counted = async () => {
          const metric = await relay.registry.getSingleMetric('tollgate_trace_spans_total')?.get();
          return metric?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
        };
        await until('spans to be counted', async () => (await counted()) > 0);
        expect(relay.logged()).toContain('the trace collector does not accept spans');
      } finally {
        const startedAt = performance.now();
        await closeClean(relay);
        collector.answer(undefined);
        expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
      }
    },
  );
});
