import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceOf } from '#pricing/price-text.js';
import { quote } from '#pricing/quote.js';
import { type Dimensions, rateFor } from '#pricing/rates.js';
import { recompute } from '#pricing/recompute.js';
import { type EngineFixture, type LedgerPerson, openEngine } from '../../test/support/ledger-person.js';
import { findCharge } from './charge.reader.js';

const MODEL = 'imgmodel-4';

let under: EngineFixture;
let someone: LedgerPerson;

beforeAll(async () => {
  under = await openEngine();
  someone = await under.ledger.account({ credits: '100000' });
});
// It closes only if the database, too, recalculates every charge to the same amount.
afterAll(() => under.close());

const value = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const asked: fc.Arbitrary<Dimensions> = fc.record({
  size: value('auto', '1024x1024', '1536x1024', '3:2'),
  quality: value('auto', 'low', 'high'),
  resolution: value('1k', '2k'),
  input: fc.option(fc.constantFrom('none' as const, 'image' as const), { nil: undefined }),
  audio: fc.option(fc.constantFrom('on' as const, 'off' as const), { nil: undefined }),
});
const price = fc
  .bigInt({ min: 0n, max: 999_999_999n })
  .map((digits) => `0.${String(digits).padStart(9, '0')}`);
const rates = fc.array(
  fc.record({
    when: fc
      .record({ asked, length: value('1', '2', '3') })
      .map(({ asked: said, length }) => withoutAbsent({ ...said, length }))
      .filter((when) => Object.keys(when).length > 0),
    unitPrice: price,
  }),
  { maxLength: 6 },
);

function withoutAbsent(dimensions: Dimensions): Dimensions {
  return JSON.parse(JSON.stringify(dimensions)) as Dimensions;
}

/** @returns the version's ID */
async function setPrice(unitPrice: string, list: object[]): Promise<string> {
  const { rows } = await under.ledger.owner.query<{ id: string }>(
    `INSERT INTO price_versions (model_id, unit_price, rates, effective_from) VALUES ($1, $2, $3, clock_timestamp())
     RETURNING id::text`,
    [MODEL, unitPrice, list.length > 0 ? JSON.stringify(list) : null],
  );
  return rows[0]!.id;
}

interface Asked {
  dimensions: Dimensions;
  units: bigint;
  delivered: bigint;
}

/** Holds and settles a request. Returns the charge and what was quoted. */
async function charge({ dimensions, units, delivered }: Asked) {
  const chargeId = newId();
  const book = await loadPriceBook(under.ledger.billing);
  const wanted = { model: MODEL, group: 'Vendora-Main', units, dimensions, atMs: Date.now() + 1_000 };
  const quoted = quote(book, wanted);
  if (typeof quoted === 'string') throw new Error(quoted);
  const held = await under.engine.hold({
    ...someone,
    ...wanted,
    chargeId,
    requestedModel: MODEL,
    quotedAmount: quoted.amount,
    expiresAtMs: Date.parse('2100-01-01'),
    deadlineMs: null,
    taskId: null,
    requestId: chargeId,
  });
  expect(held).toMatchObject({ outcome: 'held', amount: quoted.amount });
  const ended = {
    outcome: 'delivered',
    channel: null,
    reason: null,
    upstreamStatus: null,
    latencyMs: null,
  } as const;
  const { accountId } = someone;
  await under.engine.resolve({ ...ended, chargeId, accountId, deliveredUnits: delivered });
  return { chargeId, quoted };
}

describe('a charge at a price with rates', () => {
  it('is recalculated to what was quoted, whatever was requested and however the price has changed since', async () => {
    const made: Awaited<ReturnType<typeof charge>>[] = [];
    const units = fc.bigInt({ min: 1n, max: 4n });
    const request = fc.record({ dimensions: asked, units, delivered: units });
    await fc.assert(
      fc.asyncProperty(price, rates, request, async (unitPrice, list, wanted) => {
        await setPrice(unitPrice, list);
        made.push(await charge(wanted));
      }),
      { numRuns: 60 },
    );
    const book = await loadPriceBook(under.ledger.billing);
    for (const { chargeId, quoted } of made) {
      const found = (await findCharge(under.ledger.billing, chargeId, null))!;
      const { model, group, units, settled, createdAtMs: heldAtMs, multiplierVersionId } = found;
      const again = recompute(book, {
        ...found,
        model: model!,
        group: group!,
        units: units!,
        multiplierVersionId: multiplierVersionId!,
        state: 'settled',
        heldAtMs,
        deliveredUnits: found.deliveredUnits!,
        settled: settled!,
      });
      expect(again).toMatchObject({ amount: quoted.amount, agrees: true });
    }
  });

  it("has the same rate by the database's rule and by this code's", async () => {
    await fc.assert(
      fc.asyncProperty(price, rates, asked, async (unitPrice, list, dimensions) => {
        const { rows } = await under.ledger.owner.query<{ rated: string }>(
          `SELECT (rated_price(v, $3) * 1000000000)::bigint::text AS rated
           FROM jsonb_populate_record(NULL::price_versions, jsonb_build_object('unit_price', $1::numeric, 'rates', $2::jsonb)) AS v`,
          [unitPrice, list.length > 0 ? JSON.stringify(list) : null, JSON.stringify(dimensions)],
        );
        const listed = priceOf({ unitPrice, rates: list });
        if (listed?.kind !== 'unit') throw new Error('it has no unit price');
        const { unitPrice: expected } = rateFor(listed.rates ?? [], dimensions) ?? listed;
        expect(BigInt(rows[0]!.rated)).toBe(expected.digits * 10n ** BigInt(9 - expected.scale));
      }),
      { numRuns: 100 },
    );
  });

  const holdAt = (chargeId: string, about: { dimensions: Dimensions | null; quotedVersion?: string }) =>
    under.engine.hold({
      ...someone,
      ...about,
      chargeId,
      model: MODEL,
      requestedModel: MODEL,
      group: 'Vendora-Main',
      units: 1n,
      quotedAmount: nanos(500_000_000n),
      expiresAtMs: Date.parse('2100-01-01'),
      deadlineMs: null,
      taskId: null,
      requestId: chargeId,
    });

  it('is not held for a gateway that does not say what is requested', async () => {
    await setPrice('0.5', [{ when: { quality: 'low' }, unitPrice: '0.1' }]);
    const chargeId = newId();
    const hold = (dimensions: Dimensions | null) => holdAt(chargeId, { dimensions });
    expect(await hold(null)).toMatchObject({ outcome: 'refused', code: 'stale_quote' });
    expect(await hold({})).toMatchObject({ outcome: 'held' });
    expect(await hold({ quality: 'high' })).toMatchObject({ outcome: 'refused', code: 'conflict' });
  });

  it('is not held for a quote by the previous version, even if it costs the same', async () => {
    const before = await setPrice('0.5', []);
    const now = await setPrice('0.8', [{ when: { quality: 'low' }, unitPrice: '0.5' }]);
    const chargeId = newId();
    const hold = (quotedVersion: string) =>
      holdAt(chargeId, { dimensions: { quality: 'low' }, quotedVersion });
    expect(await hold(before)).toMatchObject({ outcome: 'refused', code: 'stale_quote' });
    expect(await hold(now)).toMatchObject({ outcome: 'held' });
  });
});
