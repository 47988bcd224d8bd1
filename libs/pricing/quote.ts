import { chargeNanos, type Decimal, multiply, type Nanos } from '#money/amount.js';
import { type PriceBook, type PricedModel, versionAt } from './price-book.js';

/** Units of one charge: images of a call, seconds of a video. A bound that keeps every product inside a bigint column. */
export const MAX_UNITS = 1_000_000n;

/** How a price came about: enough to recompute it from the versions alone (money.md invariant 12). */
export interface Quote {
  readonly model: PricedModel;
  readonly units: bigint;
  readonly unitPrice: Decimal;
  readonly multiplier: Decimal;
  readonly rule: 'list' | 'fixed_per_call';
  readonly priceVersionId: bigint | null;
  readonly multiplierVersionId: bigint;
  readonly groupRuleVersionId: bigint | null;
  readonly amount: Nanos;
}

export type QuoteRefusal = 'model_not_found';

export interface QuoteRequest {
  model: string;
  group: string;
  units: bigint;
  /** The time that decides which versions are in force, milliseconds. */
  atMs: number;
}

/**
 * Prices units of a model for a group at a time: unit price x units x multiplier, rounded up once (spec 4.3, money.md
 * 1). A model outside the group, withdrawn, switched off or without a price is 'model_not_found'.
 */
export function quote(book: PriceBook, request: QuoteRequest): Quote | QuoteRefusal {
  const { group, units, atMs } = request;
  const model = book.models.get(request.model);
  const multiplier = versionAt(book.multipliers.get(group), atMs);
  if (!model?.enabled || !book.access.get(group)?.has(model.id) || !multiplier?.value)
    return 'model_not_found';
  if (units < 1n || units > MAX_UNITS) throw new RangeError(`units out of range: ${units}`);

  const ruleVersion = versionAt(book.groupRules.get(group), atMs);
  if (ruleVersion?.value?.kind === 'fixed_per_call' && model.unit === 'call') {
    return priced({
      model,
      units,
      unitPrice: ruleVersion.value.unitPrice,
      multiplier: ONE,
      rule: 'fixed_per_call',
      priceVersionId: null,
      multiplierVersionId: multiplier.id,
      groupRuleVersionId: ruleVersion.id,
    });
  }
  const price = versionAt(book.prices.get(model.pricedAs), atMs);
  if (!price?.value) return 'model_not_found';
  return priced({
    model,
    units,
    unitPrice: price.value,
    multiplier: multiplier.value,
    rule: 'list',
    priceVersionId: price.id,
    multiplierVersionId: multiplier.id,
    groupRuleVersionId: null,
  });
}

const ONE: Decimal = { digits: 1n, scale: 0 };

function priced(parts: Omit<Quote, 'amount'>): Quote {
  return { ...parts, amount: amountFor(parts.unitPrice, parts.multiplier, parts.units) };
}

/** The amount of a charge line from its recorded parts; the same for a hold, a partial settlement and a recomputation. */
export function amountFor(unitPrice: Decimal, multiplier: Decimal, units: bigint): Nanos {
  return chargeNanos(multiply(unitPrice, multiplier, { digits: units, scale: 0 }));
}
