import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { newId } from '#platform/ids.js';
import { sessionOf } from '../support/console.js';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/eventually.js';
import { type OtlpCollector, pathOf, startOtlpCollector } from '../support/otlp-collector.js';
import { ensureBuilt } from '../support/programs.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let collector: OtlpCollector;
let receiver: WebhookReceiver;
let relay: Deployment;

beforeAll(async () => {
  ensureBuilt();
  collector = await startOtlpCollector();
  receiver = await startWebhookReceiver();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=kafka%20test',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.1',
    SANDBOX_VIDEO_SECONDS: '0.3',
    POLL_INTERVAL_SECONDS: '0.1',
    POLL_MAX_SECONDS: '0.3',
    OUTBOX_POLL_SECONDS: '0.1',
    LOG_LEVEL: 'info',
  };
  relay = await Deployment.start({ env, each: 1 });
  await relay.untilReady();
});

afterAll(async () => {
  await relay?.stop();
  await collector?.close();
  await receiver?.close();
});

/** Creates the account's webhook endpoint for videos, as its owner would in the console. */
async function endpointFor(accountId: string): Promise<void> {
  const userId = newId();
  const { pool } = relay.books;
  await pool.query(
    `INSERT INTO users (id, account_id, email, password_hash, roles) VALUES ($1, $2, $3, 'none', '{user}')`,
    [userId, accountId, `${userId}@example.com`],
  );
  const response = await fetch(`${relay.ready.consoleUrl}/api/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await sessionOf(pool, userId)) },
    body: JSON.stringify({ url: `${receiver.url}/video`, events: ['video.completed'] }),
  });
  expect(response.status).toBeLessThan(300);
}

it('has one trace from the client through every program to the webhook', async () => {
  const { accountId, apiKey } = await relay.books.account('5');
  await endpointFor(accountId);
  const traceId = randomBytes(16).toString('hex');
  const clientSpan = randomBytes(8).toString('hex');
  const answer = await fetch(`${relay.nextUrl()}/v1/videos`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${clientSpan}-01`,
    },
    body: JSON.stringify({ model: 'vendora-imagine-video', prompt: 'a boat', seconds: '2' }),
  });
  expect(answer.status).toBe(200);
  await until('the webhook', async () => receiver.at('/video').length > 0);

  const wanted = ['webhook', 'POST /v1/videos', 'follow task', 'outbox', 'process video.completed'];
  const spans = () => collector.of(traceId);
  const webhook = () => spans().find(({ name }) => name === 'webhook');
  const servicesOf = (name: string) =>
    [...new Set(spans().flatMap((span) => (span.name === name ? [span.service] : [])))].sort();
  await until(
    'the spans',
    async () => {
      const span = webhook();
      // Each program sends its spans in its own time, and billing handles the event too.
      const hasBoth = servicesOf('process video.completed').length === 2;
      return hasBoth && span && pathOf(spans(), span)[0] === 'POST /v1/videos';
    },
    { state: () => JSON.stringify(spans().map(({ name }) => name)) },
  );
  const sent = receiver.at('/video')[0]?.headers['traceparent'];
  expect(sent).toBe(`00-${traceId}-${webhook()?.spanId}-01`);
  expect(pathOf(spans(), webhook()!)).toEqual([
    'POST /v1/videos',
    'follow task',
    'outbox',
    'process video.completed',
    'webhook',
  ]);
  expect(wanted.map(servicesOf)).toEqual([
    ['tollgate-control-plane'],
    ['tollgate-gateway'],
    ['tollgate-video-worker'],
    ['tollgate-video-worker'],
    ['tollgate-billing', 'tollgate-control-plane'],
  ]);
  expect(servicesOf('process charge.requested')).toEqual(['tollgate-billing']);
  expect(spans().find(({ name }) => name === 'POST /v1/videos')?.parentSpanId).toBe(clientSpan);
  expect(collector.text()).toContain('kafka test');
  expect(collector.text()).not.toContain(apiKey);
  expect(collector.metrics.has('bus_consumer_lag')).toBe(true);
});
