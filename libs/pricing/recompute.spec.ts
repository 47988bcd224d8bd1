import { describe, expect, it } from 'vitest';
import { nanos, parseDecimal } from '#money/amount.js';
import { priceBook } from './price-book.fixture.js';
import { withTokens } from './quote.js';
import { recompute, type RecordedCharge } from './recompute.js';

/** The group has since lost its models. */
const book = { ...priceBook, access: new Map() };

describe('a recalculated charge', () => {
  const charge: RecordedCharge = {
    model: 'picture-latest',
    group: 'Main',
    priceVersionId: 1n,
    multiplierVersionId: 4n,
    groupRuleVersionId: null,
    units: 3n,
    dimensions: null,
    lines: null,
    state: 'settled',
    heldAtMs: 4_999.999,
    deliveredUnits: 2n,
    deliveredLines: null,
    amount: nanos(66_000_000n),
    settled: nanos(44_000_000n),
    operatorLoss: nanos(0n),
  };

  it('agrees with what was held and settled by the versions in force then', () => {
    expect(recompute(book, charge)).toMatchObject({
      amount: 66_000_000n,
      settled: 44_000_000n,
      agrees: true,
    });
    expect(recompute(book, { ...charge, settled: nanos(44_000_001n) })?.agrees).toBe(false);
    expect(recompute(book, { ...charge, heldAtMs: 5_000 })).toMatchObject({ inForce: false, agrees: false });
    expect(recompute(book, { ...charge, priceVersionId: 99n })).toBeNull();
  });

  it('treats cache writes as input if it was held before writes had their own lines', () => {
    const priced = { unitPrice: parseDecimal('0.000002') };
    const lines = (['input', 'cached_input', 'output'] as const).map((kind) => ({
      kind,
      units: 0n,
      ...priced,
    }));
    const used = { input: 1n, cachedInput: 2n, output: 3n, cacheWrite: 10n, cacheWrite1h: 20n };
    expect(withTokens(lines, used).map(({ units }) => units)).toEqual([31n, 2n, 3n]);
  });

  it('limits metered work to its hold and calls the rest a loss', () => {
    const held = [
      { kind: 'input' as const, units: 1_000n },
      { kind: 'output' as const, units: 100n },
    ];
    const used = [
      { kind: 'input' as const, units: 1_000n },
      { kind: 'output' as const, units: 200n },
    ];
    const again = recompute(book, {
      ...charge,
      model: 'talk',
      priceVersionId: 3n,
      lines: held,
      deliveredLines: used,
      amount: nanos(3_850_000n),
      settled: nanos(3_850_000n),
      operatorLoss: nanos(1_100_000n),
    });
    expect(again).toMatchObject({ settled: 3_850_000n, operatorLoss: 1_100_000n, agrees: true });
  });
});
