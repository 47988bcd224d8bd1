import type { Decimal } from '#money/amount.js';
import type { PriceBook, PricedModel } from '#pricing/price-book.js';
import { priceText, type PriceText } from '#pricing/price-text.js';
import { changeDecimals, newestVersion, type PriceChange, sameChange } from '../prices/price-change.js';
import { askedPrice } from './margin.js';
import type { KnownBases, PriceBase } from './price-bases.js';
import type { VendorModel } from './vendor-model.js';

/** How a model of the catalog compares with this installation. */
export const vendorStates = ['missing', 'alias', 'unlike', 'unpriced', 'own', 'current', 'moved'] as const;
export type VendorState = (typeof vendorStates)[number];

/** A model of the catalog, and this installation's model with the same id. */
export interface VendorComparison {
  readonly model: VendorModel;
  /**
   * `missing`: there is no such model here. `alias`: it is another name of one. `unlike`: it has another family or
   * unit. `unpriced`: it has no price. `own`: its price was not derived from the catalog. `current`: it was, from the
   * current list price. `moved`: it was, and the list price has changed since.
   */
  readonly state: VendorState;
  /** The current or announced price here. */
  readonly asked: PriceText | null;
  /** What that price was derived from; null if it was not. */
  readonly base: PriceBase | null;
  /** Something is sold for less than its vendor charges. */
  readonly isBelowList: boolean;
  /** A proposal of the catalog for this model that waits for confirmation. */
  readonly openProposal: string | null;
}

/** Compares every model of the catalog with this installation. Pure. */
export function compareVendorModels(
  models: readonly VendorModel[],
  book: PriceBook,
  bases: KnownBases,
): VendorComparison[] {
  return models.map((model) => {
    const known = book.models.get(model.id);
    const asked = askedFor(book, model.id);
    const base = derivedFrom(asked, bases.confirmed.get(model.id));
    return {
      model,
      state: stateOf(model, known, { asked, base }),
      asked,
      base,
      isBelowList: known?.unit === model.unit && isBelow(asked, model.listPrice),
      openProposal: bases.open.get(model.id) ?? null,
    };
  });
}

function askedFor(book: PriceBook, model: string): PriceText | null {
  const value = newestVersion(book.prices.get(model) ?? [])?.value ?? null;
  return value && priceText(value);
}

/** The base of a price, unless someone has set another price since. */
function derivedFrom(asked: PriceText | null, base: PriceBase | undefined): PriceBase | null {
  if (!asked || !base) return null;
  return isSame(asked, askedPrice(base.listPrice, base.marginPercent)) ? base : null;
}

function stateOf(
  model: VendorModel,
  known: PricedModel | undefined,
  { asked, base }: Pick<VendorComparison, 'asked' | 'base'>,
): VendorState {
  if (!known) return 'missing';
  if (known.pricedAs !== known.id) return 'alias';
  if (known.family !== model.family || known.unit !== model.unit) return 'unlike';
  if (!asked) return 'unpriced';
  if (!base || !model.listPrice) return 'own';
  return isSame(base.listPrice, model.listPrice) ? 'current' : 'moved';
}

function isSame(a: PriceText, b: PriceText): boolean {
  return sameChange(changeTo(a), changeTo(b));
}

/** Compared number by number: a rate only if both have the same one. */
function isBelow(asked: PriceText | null, list: PriceText | null): boolean {
  if (!asked || !list) return false;
  const [ours, theirs] = [numbersOf(asked), numbersOf(list)];
  return [...theirs].some(([name, price]) => {
    const own = ours.get(name);
    return own !== undefined && isLess(own, price);
  });
}

function numbersOf(price: PriceText): Map<string, Decimal> {
  const decimals = changeDecimals(changeTo(price)) ?? [];
  const rates = 'unitPrice' in price ? (price.rates ?? []) : [];
  const names = rates.map(({ when }) => JSON.stringify(Object.entries(when).sort()));
  const own = decimals.length - names.length;
  return new Map(decimals.map((each, at) => [names[at - own] ?? `${at}`, each]));
}

function isLess(a: Decimal, b: Decimal): boolean {
  return a.digits * 10n ** BigInt(b.scale) < b.digits * 10n ** BigInt(a.scale);
}

function changeTo(price: PriceText): PriceChange {
  return { kind: 'price', model: '', price };
}
