import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '#bus/bus.js';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import type { Caller } from '#identity/key-authenticator.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { formatAmount } from '#money/amount.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { gate } from '../../../test/support/bus.js';
import type { EngineFixture } from '../../../test/support/ledger-person.js';
import { GatewayMetrics } from '../gateway.metrics.js';
import { BillingUnderTest } from './billing.fixture.js';
import { type ChargeOrder, ChargeService } from './charge.service.js';

const MODEL = 'imgmodel-4';
const HOLD_EXPIRES_MS = 10_000;

let billing: BillingUnderTest;
let under: EngineFixture;
let bus: Bus;
let clock: ManualClock;
let catalog: CatalogCache;
let service: ChargeService;
let caller: Caller;
let held: string[];

beforeAll(async () => {
  billing = await BillingUnderTest.start();
  ({ under } = billing);
});
afterAll(() => billing.close());

beforeEach(async () => {
  held = [];
  billing.reset();
  clock = new ManualClock(Date.now());
  catalog = new CatalogCache(() => loadCatalog(under.ledger.billing), clock, 3_600_000);
  bus = billing.bus(5_000);
  service = serviceOn(bus);
  const { accountId, keyId } = await under.ledger.account({ credits: '1' });
  caller = { accountId, keyId, group: 'Vendora-Main' };
});
afterEach(() => bus.close());

function serviceOn(on: Bus): ChargeService {
  return new ChargeService(on, catalog, {
    clock,
    log: under.ledger.log,
    metrics: new GatewayMetrics(new Registry()),
    holdExpiresMs: HOLD_EXPIRES_MS,
    onHeld: (chargeId) => held.push(chargeId),
  });
}

async function order(of: Partial<ChargeOrder> = {}): Promise<ChargeOrder> {
  const model = (await catalog.get()).models.get(MODEL)!;
  const chargeId = newId();
  return { chargeId, caller, model, units: 2n, deadlineMs: null, taskId: null, requestId: chargeId, ...of };
}

async function balances(): Promise<string[]> {
  const balance = (await readBalance(under.ledger.billing, caller.accountId))!;
  return [balance.main, balance.held].map(formatAmount);
}

/** A price that takes effect immediately, or after some time, and is in no cache. */
function price(unitPrice: string, after = '0 seconds'): Promise<unknown> {
  return under.ledger.owner.query(
    `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ($1, $2, clock_timestamp() + $3::interval)`,
    [MODEL, unitPrice, after],
  );
}

async function amountHeld(): Promise<string | false> {
  const outcome = await service.hold(await order());
  return outcome.kind === 'held' && formatAmount(outcome.hold.amount);
}

describe('a hold', () => {
  it('moves what the ledger quoted, once per charge, and knows what a part of it costs', async () => {
    const asked = await order();
    const outcome = await service.hold(asked);
    if (outcome.kind !== 'held') throw outcome.error;
    expect(outcome.hold).toMatchObject({ chargeId: asked.chargeId, accountId: caller.accountId });
    expect(formatAmount(outcome.hold.amount)).toBe('0.06');
    expect(formatAmount(outcome.hold.amountOf(1n))).toBe('0.03');
    expect((await service.hold(asked)).kind).toBe('held');
    expect(await balances()).toEqual(['0.94', '0.06']);
    expect(held).toEqual([asked.chargeId, asked.chargeId]);
  });

  it('is refused in the client’s terms, and stays refused', async () => {
    const asked = await order({ units: 100n });
    for (const outcome of [await service.hold(asked), await service.hold(asked)]) {
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'insufficient_user_quota' } });
    }
    await under.ledger.revoke(caller.keyId);
    expect(await service.hold(await order())).toMatchObject({
      kind: 'refused',
      error: { code: 'invalid_api_key' },
    });
    expect(await balances()).toEqual(['1', '0']);
    expect(held).toEqual([]);
  });

  it('is quoted again if the price changed meanwhile', async () => {
    const asked = await order();
    await price('0.04');
    clock.advance(60_000);
    const outcome = await service.hold(asked);
    expect(outcome.kind === 'held' && formatAmount(outcome.hold.amount)).toBe('0.08');
    expect(await balances()).toEqual(['0.92', '0.08']);
  });

  it('has the price of the database’s clock, whatever the clock of the gateway says', async () => {
    await price('0.02');
    await price('0.09', '1 hour');
    for (const ms of [-5_000, 7_200_000]) {
      clock.jump(ms);
      expect(await amountHeld()).toBe('0.04');
    }
  });

  it('finds a price that has just begun though the clock is behind, and reads the catalog once', async () => {
    await under.ledger.owner.query(
      `INSERT INTO models (id, family, unit, owned_by) VALUES ('just-begun', 'image', 'call', 'vendora');
       INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'just-begun');
       INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('just-begun', 0.05, clock_timestamp())`,
    );
    clock.jump(-5_000);
    let reads = 0;
    catalog = new CatalogCache(
      () => {
        reads += 1;
        return loadCatalog(under.ledger.billing);
      },
      clock,
      3_600_000,
    );
    service = serviceOn(bus);
    const model = (await catalog.get()).models.get('just-begun')!;
    for (let calls = 0; calls < 2; calls += 1)
      expect(await service.hold(await order({ model }))).toMatchObject({ kind: 'held' });
    expect(reads).toBe(1);
  });

  it.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])(
    'is held, and not released before its time, though the clock was an hour %s for a while',
    async (_, ms) => {
      const isHeldInTime = async () => {
        const asked = await order({ deadlineMs: clock.elapsedMs() + 60_000 });
        expect((await service.hold(asked)).kind).toBe('held');
        const { rows } = await under.ledger.owner.query(
          'SELECT deadline > created_at AS "isLater" FROM charges WHERE id = $1',
          [asked.chargeId],
        );
        expect(rows).toEqual([{ isLater: true }]);
      };
      await catalog.get();
      for (const jump of [ms, -ms]) {
        clock.jump(jump);
        await isHeldInTime();
        catalog.drop();
        await isHeldInTime();
      }
    },
  );

  it('is refused once, not for long, after the database’s clock was set', async () => {
    let aheadMs = -3_600_000;
    catalog = new CatalogCache(
      async () => {
        const read = await loadCatalog(under.ledger.billing);
        return { ...read, readAtMs: read.readAtMs + aheadMs };
      },
      clock,
      3_600_000,
    );
    service = serviceOn(bus);
    const early = await order();
    clock.advance(1);
    aheadMs = 0;
    expect(await service.hold(early)).toMatchObject({ kind: 'refused', error: { status: 503 } });
    expect((await service.hold(await order())).kind).toBe('held');
  });

  it('is quoted by the database’s clock as the catalog was read if billing does not say the time', async () => {
    billing.says = ({ pricedAt: _, ...reply }) => reply;
    await order();
    await price('0.03');
    clock.advance(60_000);
    expect(await amountHeld()).toBe('0.06');
  });

  it('says what the held price depends on, not the price of the first quote', async () => {
    const model = (await catalog.get()).models.get('vendora-imagine-video')!;
    const asked = await order({ model, dimensions: {} });
    expect(await service.hold(asked)).toMatchObject({ hold: { ratedBy: [] } });
    // The same amount; only the version differs.
    await under.ledger.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, rates, effective_from)
       VALUES ($1, 0.05, '[{"when": {"audio": "off"}, "unitPrice": "0.02"}]', clock_timestamp())`,
      [model.id],
    );
    clock.advance(60_000);
    expect(await service.hold(await order({ model, dimensions: {} }))).toMatchObject({
      hold: { amount: 100_000_000n, ratedBy: ['audio'] },
    });
  });

  it('is given up as undecided if the price keeps changing', async () => {
    let cents = 5;
    clock.advance(60_000);
    billing.beforeHold = async () => {
      cents += 1;
      await price(`0.0${cents}`);
    };
    expect(await service.hold(await order())).toMatchObject({
      kind: 'undecided',
      error: { status: 503 },
    });
    expect(await balances()).toEqual(['1', '0']);
  });

  it('is requested again while there is no answer, until it would have expired', async () => {
    const { opened, open } = gate();
    const asks: string[] = [];
    billing.beforeHold = async ({ expiresAt }) => {
      asks.push(expiresAt);
      if (asks.length === 1) await opened;
    };
    const impatient = billing.bus(100);
    try {
      await catalog.get();
      const expiresAt = new Date(catalog.nowMs() + HOLD_EXPIRES_MS).toISOString();
      expect((await serviceOn(impatient).hold(await order())).kind).toBe('held');
      expect(asks).toEqual([expiresAt, expiresAt]);
      billing.beforeHold = async () => {
        clock.advance(HOLD_EXPIRES_MS);
        await opened;
      };
      expect(await serviceOn(impatient).hold(await order())).toMatchObject({
        kind: 'undecided',
        error: { code: 'service_unavailable' },
      });
    } finally {
      open();
      await impatient.close();
    }
  });
});
