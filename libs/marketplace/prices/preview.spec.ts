import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import type { PriceChange } from './price-change.js';
import type { LedgerFixture } from '../../../test/support/ledger.js';
import {
  type EngineFixture,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../../test/support/ledger-person.js';
import { previewChanges } from './preview.js';

const HOUR_MS = 3_600_000;

let ledger: LedgerFixture;
let under: EngineFixture;
let people: [LedgerPerson, LedgerPerson];

beforeAll(async () => {
  under = await openEngine();
  ({ ledger } = under);
  people = [await ledger.account({ credits: '10' }), await ledger.account({ credits: '10' })];
  await spend(under.engine, people[0], 2n);
  await spend(under.engine, people[0], 2n);
  await spend(under.engine, people[1], 3n);
});
afterAll(() => under.close());

let nowMs: number;
beforeEach(() => {
  nowMs = Date.now();
});

function preview(changes: PriceChange[], of: { fromMs?: number; toMs?: number; effectiveAt?: Date } = {}) {
  const { fromMs = nowMs - HOUR_MS, toMs = nowMs + HOUR_MS, effectiveAt = null } = of;
  return previewChanges(ledger.billing, {
    changes,
    effectiveAt,
    from: new Date(fromMs),
    to: new Date(toMs),
  });
}

const priceOf = (model: string, unitPrice: string | null): PriceChange => ({
  kind: 'price',
  model,
  price: unitPrice === null ? null : { unitPrice },
});

describe('a preview', () => {
  it('prices that time’s requests again, without the change and with it', async () => {
    expect(await preview([priceOf('imgmodel-4', '0.05')])).toMatchObject({
      accounts: 2n,
      rows: [
        {
          model: 'imgmodel-4',
          group: 'Vendora-Main',
          requests: 3n,
          accounts: 2n,
          charged: 210_000_000n,
          current: 210_000_000n,
          proposed: 350_000_000n,
          wouldBeRefused: false,
        },
      ],
    });
  });

  it('of a multiplier covers every model of the group', async () => {
    const { rows } = await preview([{ kind: 'multiplier', group: 'Vendora-Main', multiplier: '0.5' }]);
    expect(rows).toMatchObject([{ model: 'imgmodel-4', current: 210_000_000n, proposed: 105_000_000n }]);
  });

  it('of a withdrawn price says that the requests would be refused, and cost nothing', async () => {
    const { rows } = await preview([priceOf('imgmodel-4', null)]);
    expect(rows).toMatchObject([{ proposed: 0n, wouldBeRefused: true, current: 210_000_000n }]);
  });

  it('compares with what would be in force when the change takes effect, not with what is now', async () => {
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from)
       VALUES ('imgmodel-4', 0.04, now() + interval '1 hour')`,
    );
    const later = { effectiveAt: new Date(nowMs + 2 * HOUR_MS) };
    const { rows } = await preview([priceOf('imgmodel-4', '0.05')], later);
    expect(rows).toMatchObject([{ charged: 210_000_000n, current: 280_000_000n, proposed: 350_000_000n }]);
  });

  it('has no requests for other models or from another time, and changes nothing', async () => {
    expect(await preview([priceOf('vendora-3d', '1')])).toMatchObject({ accounts: 0n, rows: [] });
    const before = { fromMs: nowMs - 2 * HOUR_MS, toMs: nowMs - HOUR_MS };
    expect(await preview([priceOf('imgmodel-4', '1')], before)).toMatchObject({ accounts: 0n, rows: [] });
    const { prices } = await loadPriceBook(ledger.billing);
    expect(prices.get('vendora-3d')).toHaveLength(1);
  });
});
