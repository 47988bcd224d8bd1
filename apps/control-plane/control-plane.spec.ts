import { afterAll, beforeAll, expect, it } from 'vitest';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { groups } from '#bus/topics.js';
import { ConfigReader } from '#platform/config.js';
import { readiness } from '#platform/health.js';
import { Registry } from '#platform/metrics.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { readControlPlaneConfig } from './control-plane.config.js';
import { type RunningControlPlane, startControlPlane } from './control-plane.program.js';

let ledger: LedgerFixture;
let transport: InProcessTransport;
let controlPlane: RunningControlPlane;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  const { log } = ledger;
  const registry = new Registry();
  transport = new InProcessTransport({ groups: [groups.controlPlane, groups.notifications], log, registry });
  controlPlane = await startControlPlane({
    pool: ledger.billing,
    databaseUrl: ledger.urlFor('billing'),
    transport,
    config: readControlPlaneConfig(new ConfigReader({})),
    log,
    registry,
    console: { host: '127.0.0.1', port: 0 },
  });
});

afterAll(async () => {
  await controlPlane?.close();
  await transport?.close();
  await ledger?.close();
});

it('serves the pages and its health without any other program', async () => {
  const origin = `http://127.0.0.1:${controlPlane.consolePort}`;
  const page = await fetch(origin);
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(await page.text()).toContain('Tollgate');
  const status = await fetch(`${origin}/api/status`);
  expect(await status.json()).toEqual({
    service: 'tollgate',
    program: 'control-plane',
    ready: true,
    checks: { database: 'ok', bus: 'ok' },
  });
  expect((await fetch(`${origin}/v1/models`)).status).toBe(404);
});

it('says to strangers which check fails, and why only to the operator', async () => {
  await transport.close();
  const { checks } = await readiness(controlPlane.checks);
  expect(checks).toEqual({ database: 'ok', bus: expect.stringContaining('closed') });
  const status = await fetch(`http://127.0.0.1:${controlPlane.consolePort}/api/status`);
  expect(await status.json()).toMatchObject({ ready: false, checks: { database: 'ok', bus: 'failed' } });
});
