import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bus } from '#bus/bus.js';
import { openPool } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { until } from '../../../test/support/eventually.js';
import { socketOf, TcpSwitch } from '../../../test/support/tcp-switch.js';
import { GatewayMetrics } from '../gateway.metrics.js';
import { BillingUnderTest } from './billing.fixture.js';
import { ResolutionPost } from './resolution.post.js';

let billing: BillingUnderTest;
let bus: Bus;

beforeAll(async () => {
  billing = await BillingUnderTest.start();
  bus = billing.bus(100);
});
afterAll(async () => {
  billing.reset();
  await bus.close();
  await billing.close();
});

/** A release that neither billing nor the database accepts, until the database is reachable again. */
async function unsentRelease() {
  const { ledger } = billing.under;
  billing.beforeEnd = () => Promise.reject(new Error('billing does not answer'));
  const way = await TcpSwitch.open({ path: '/nothing/is/here' });
  const url = ledger.urlFor('gateway');
  const pool = openPool({ url: way.urlOf(url), max: 1, applicationName: 'spec' });
  const metrics = new GatewayMetrics(new Registry());
  const post = new ResolutionPost(bus, pool, { log: ledger.log, metrics, wakeOutbox: () => undefined });
  const { accountId } = await ledger.account({ credits: '1' });
  const chargeId = newId();
  const failed = { delivered: null, channel: null };
  return {
    release: () => post.release({ chargeId, requestId: chargeId }, accountId, failed),
    openWay: () => way.lead(socketOf(url)),
    isKept: async () => {
      const sql = `SELECT FROM outbox WHERE payload->>'chargeId' = $1`;
      return (await ledger.owner.query(sql, [chargeId])).rowCount === 1;
    },
    stop: () => post.close(),
    end: async () => {
      await post.close();
      await pool.end();
      await way.close();
    },
  };
}

it('keeps a release until it can be saved, while neither billing nor the database can be reached', async () => {
  const { release, openWay, isKept, end } = await unsentRelease();
  try {
    expect(await release()).toBe(false);
    openWay();
    await until('the outbox to have the release', isKept);
  } finally {
    await end();
  }
});

it('tries once more when its gateway stops', async () => {
  const { release, openWay, isKept, stop, end } = await unsentRelease();
  try {
    expect(await release()).toBe(false);
    openWay();
    await stop();
    expect(await isKept()).toBe(true);
  } finally {
    await end();
  }
});
