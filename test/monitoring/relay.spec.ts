import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHealthServer } from '#platform/health.js';
import { type Scrape, scrapeOf } from '#platform/metrics.js';
import { type Customer, expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { forge } from '../support/forgery.js';
import { type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.js';
import { type Replica, startReplica } from '../support/replica.js';
import { type Prometheus, startPrometheus } from './support/prometheus.js';
import { documentedMetrics, metricsOf, monitoring, panelQueries, rules } from './support/watched.js';

/** Metrics that Prometheus adds itself. */
const ITS_OWN = ['up', 'ALERTS'];

const OF_A_SEALED_POSTING =
  'transaction_id = (SELECT last_id FROM ledger_chain_blocks ORDER BY number LIMIT 1)';

const PAGES = ['/v1/images/generations', '/no/such/path'];

let replica: Replica;
let logFolder: string;
let collector: OtlpCollector;
let relay: Relay;
let customer: Customer;
let health: Server;
let prometheus: Prometheus;

beforeAll(async () => {
  collector = await startOtlpCollector();
  // With a replica, an exported log and traces: an installation that uses every feature.
  replica = await startReplica();
  logFolder = await mkdtemp(join(tmpdir(), 'request-log-'));
  relay = await startRelay((fixture) => ({
    REPORTS_DATABASE_URL: replica.urlOf(fixture.urlFor('billing')),
    RECONCILE_SECONDS: '1',
    CHAIN_SEAL_SECONDS: '0.2',
    REQUEST_LOG: 'file',
    REQUEST_LOG_DIR: logFolder,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_METRICS_EXPORTER: 'none',
  }));
  customer = await relay.customer('10');
  health = await startHealthServer({ host: '127.0.0.1', port: 0, checks: {}, registry: relay.registry });
  prometheus = await startPrometheus({
    rules: `${monitoring}/prometheus/rules/*.yml`,
    targetPort: (health.address() as AddressInfo).port,
    consoleUrl: 'https://console.test',
  });
  for (const path of PAGES) await customer.send(path, json({ model: 'imgmodel-4', prompt: 'a lighthouse' }));
});
afterAll(async () => {
  await prometheus?.stop();
  health?.close();
  if (relay) await expectCleanLedger(relay);
  await relay?.close();
  await replica?.stop();
  await collector?.close();
  if (logFolder) await rm(logFolder, { recursive: true });
});

interface Alert {
  state: 'pending' | 'firing';
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

interface Rule {
  name: string;
  type: 'alerting' | 'recording';
  health: 'ok' | 'err' | 'unknown';
  lastError?: string;
  alerts?: Alert[];
}

interface Answer {
  resultType: string;
  result: { metric: Record<string, string>; value: [number, string] }[];
}

interface Exemplars {
  exemplars: { labels: { trace_id: string }; value: string }[];
}

async function rulesThere(): Promise<Rule[]> {
  const { groups } = await prometheus.ask<{ groups: { rules: Rule[] }[] }>('rules');
  return groups.flatMap((group) => group.rules);
}

const value = async (query: string): Promise<number> => {
  const { result } = await prometheus.ask<Answer>('query', { query });
  return Number(result[0]?.value[1]);
};

/** Waits until a scrape has it. */
async function shows(query: string, isExpected: (found: number) => boolean): Promise<void> {
  let found = Number.NaN;
  const isThere = async () => isExpected((found = await value(query)));
  await until(query, isThere, { state: () => String(found) });
}

describe('a running relay', () => {
  it('exports every metric that a rule, a dashboard or the documentation names', async () => {
    const types = [...(await relay.registry.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const names = new Set(types.map(([, name]) => name));
    const exported = types.flatMap(([, name, type]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name!],
    );
    const recorded = rules.flatMap(({ record }) => record ?? []);
    const known = new Set([...exported, ...recorded, ...ITS_OWN]);
    expect(documentedMetrics().length).toBeGreaterThan(20);
    expect(documentedMetrics().filter((name) => !names.has(name))).toEqual([]);
    const asked = [...rules.map(({ expr }) => expr), ...panelQueries.map(({ expr }) => expr)];
    expect(asked.flatMap(metricsOf).filter((name) => !known.has(name))).toEqual([]);
    expect(asked.flatMap(metricsOf).length).toBeGreaterThan(100);
  });

  it('is compared with the metric names in queries, and with no other words of them', () => {
    expect(
      metricsOf(
        'sum by (a) (rate(no_such_total{b="x or y"}[5m] offset 1h)) / on(a) group_left(c) z:w > 14.4',
      ),
    ).toEqual(['no_such_total', 'z:w']);
    expect(metricsOf('x unless x offset 1h or label_replace(absent(y), "m", "g", "", "")')).toEqual([
      'x',
      'y',
    ]);
  });

  it('is scraped, and every rule is evaluated without an error', async () => {
    await until('a first scrape', async () => (await value('up{job="tollgate"}')) === 1);
    await until('every rule', async () => (await rulesThere()).every((rule) => rule.health !== 'unknown'));
    const there = await rulesThere();
    expect(there.map(({ name }) => name).sort()).toEqual(
      rules.map(({ alert, record }) => alert ?? record).sort(),
    );
    expect(
      there.filter((rule) => rule.health !== 'ok').map(({ name, lastError }) => [name, lastError]),
    ).toEqual([]);
  });

  it('answers every query of the dashboards', async () => {
    await until('the controls', async () => (await value('count(tollgate_control_findings)')) > 0);
    for (const { of, expr } of panelQueries) {
      const { resultType } = await prometheus.ask<Answer>('query', { query: expr });
      expect([of, resultType]).toEqual([of, 'vector']);
    }
  });

  it('shows what it did and what it has', async () => {
    const isOne = (found: number) => found === 1;
    const isPositive = (found: number) => found > 0;
    await shows('sum(gateway_requests_total{status="200"})', isOne);
    await shows('sum(gateway_holds_total{outcome="held"})', isOne);
    await shows('sum(bus_request_seconds_bucket{topic="charge.requested",le="0.25"})', (found) => found <= 1);
    await shows('tollgate_storage_free_bytes / tollgate_storage_size_bytes', isPositive);
    await shows('database_connections_limit{pool="standalone-gateway"}', (found) => found === 24);
    await shows('database_connections_limit{pool="control-plane-reports"}', isPositive);
    await shows('gateway_body_memory_limit_bytes', isPositive);
    await shows('count(upstream_channel_places)', isPositive);
    await until('an exported hour', async () => (await readdir(logFolder)).length > 0);
    await shows('time() - tollgate_request_log_through_timestamp_seconds', (found) => found < 2 * 3600);
    for (const loop of [
      'expired-holds',
      'ended-tasks',
      'ledger-chain',
      'recognition',
      'upstream-costs',
      'payments',
      'reconciler',
    ])
      await shows(`count(tollgate_loop_last_success_timestamp_seconds{loop="${loop}"})`, isOne);
  });

  it('has the same series in OpenMetrics', async () => {
    // Node's open resources come and go.
    const seriesIn = ({ text }: Scrape) => new Set(text.match(/^(?!nodejs_active_)[^#\s][^\s{]*/gm));
    const series = seriesIn(await scrapeOf(relay.registry));
    expect(seriesIn(await scrapeOf(relay.registry, 'application/openmetrics-text'))).toEqual(series);
    expect(seriesIn(await scrapeOf(relay.registry))).toEqual(series);
    expect(series).toContain('gateway_requests_total');
  });

  it.each([
    'gateway_request_seconds_bucket{route="/v1/images/generations"}',
    'gateway_upstream_seconds_bucket{operation="images"}',
    'bus_request_seconds_bucket{topic="charge.requested"}',
    'bus_handle_seconds_bucket{topic="charge.resolved"}',
  ])('links from %s to the trace of a call', async (query) => {
    let found: Exemplars[] = [];
    const [start, end] = [Date.now() / 1000 - 3600, Date.now() / 1000 + 3600].map(String) as [string, string];
    await until('an exemplar', async () => {
      found = await prometheus.ask<Exemplars[]>('query_exemplars', { query, start, end });
      return found.length > 0;
    });
    const [{ labels, value: seconds }] = found[0]!.exemplars as [Exemplars['exemplars'][number]];
    expect(Number(seconds)).toBeGreaterThan(0);
    const root = () =>
      collector.of(labels.trace_id).find(({ name }) => name === 'POST /v1/images/generations');
    await until('its trace', async () => root() !== undefined);
  });

  it('raises no alert while all is well', async () => {
    let active: string[] = [];
    // A busy machine is slow for minutes, but no alert says so before it has been for longer.
    const isMeant = ({ state, labels }: Alert) => state === 'firing' || labels['question'] !== 'speed';
    const isQuiet = async () => {
      const there = await rulesThere();
      active = there.filter(({ alerts = [] }) => alerts.some(isMeant)).map(({ name }) => name);
      return active.length === 0;
    };
    await until('quiet', isQuiet, { state: () => active.join(', ') });
  });

  it('raises an alert with its runbook when the books are wrong, and ends it when they are corrected', async () => {
    const { owner } = relay.fixture;
    await until(
      'a sealed block',
      async () => (await owner.query('SELECT FROM ledger_chain_blocks')).rowCount,
    );
    const ofControl = async () => {
      const wrong = (await rulesThere()).find(({ name }) => name === 'LedgerWrong');
      return wrong?.alerts?.find(({ labels }) => labels['control'] === 'chain');
    };
    await forge(owner, `UPDATE ledger_entries SET amount = amount * 2 WHERE ${OF_A_SEALED_POSTING}`);
    const alert = await until('the alert', ofControl);
    expect(alert.annotations['runbook_url']).toBe('https://console.test/docs/runbooks#ledgerwrong');
    expect(alert.annotations['summary']).toMatch(/^Control chain found [1-9]\d* faults in the books\.$/);
    await forge(owner, `UPDATE ledger_entries SET amount = amount / 2 WHERE ${OF_A_SEALED_POSTING}`);
    await until('its end', async () => !(await ofControl()));
  });
});
