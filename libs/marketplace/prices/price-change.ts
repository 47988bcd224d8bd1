import { type GroupRule, groupRuleOf } from '#groups/terms.js';
import type { Version } from '#groups/version.js';
import { type Decimal, equalDecimals, parseDecimal, plainDecimal } from '#money/amount.js';
import { cacheWritePrices, type Price, type PriceBook } from '#pricing/price-book.js';
import { optionalPrices, priceOf, type PriceText, priceText } from '#pricing/price-text.js';
import { whenText } from '#pricing/rates.js';
import { mediaNames } from '#pricing/token-kinds.js';
import { type PriceFault, priceFault } from './price-fault.js';
import { ratesFault, ratesOf, ratesText } from './rates.js';

/** A new value for one subject; null withdraws it. */
export type PriceChange =
  | { kind: 'price'; model: string; price: PriceText | null }
  | { kind: 'multiplier'; group: string; multiplier: string | null }
  | { kind: 'rule'; group: string; rule: 'fixed_per_call'; unitPrice: string }
  | { kind: 'rule'; group: string; rule: 'none' };

/** Anything higher is a misplaced decimal point: credits per call, second or million tokens. */
const HIGHEST_PRICE = 1_000_000n;
const HIGHEST_MULTIPLIER = 1_000n;

/** The subject of a change. A proposal has at most one change per subject. */
export function changeSubject(change: PriceChange): string {
  return `${change.kind} of ${changedName(change)}`;
}

/** The model or group of a change. */
export function changedName(change: PriceChange): string {
  return change.kind === 'price' ? change.model : change.group;
}

/** Why a change cannot be made, or null. Invalid decimals were rejected before. */
export function changeFault(book: PriceBook, change: PriceChange): PriceFault | null {
  if (change.kind === 'price') return faultOfPrice(book, change);
  if (!book.multipliers.has(change.group)) return priceFault('no_group', { group: change.group });
  if (change.kind === 'multiplier') return excess('multiplier', change.multiplier, HIGHEST_MULTIPLIER);
  return change.rule === 'none' ? null : excess('unitPrice', change.unitPrice, HIGHEST_PRICE);
}

/** Why a new group cannot begin with these, or null. */
export function groupFault(begins: { multiplier: string; fixedPerCall: string | null }): PriceFault | null {
  return (
    excess('multiplier', begins.multiplier, HIGHEST_MULTIPLIER) ??
    excess('fixedPerCall', begins.fixedPerCall, HIGHEST_PRICE)
  );
}

function faultOfPrice(book: PriceBook, change: Extract<PriceChange, { kind: 'price' }>): PriceFault | null {
  const model = book.models.get(change.model);
  if (!model) return priceFault('no_model', { model: change.model });
  if (model.pricedAs !== model.id) return priceFault('alias', { model: model.id, of: model.pricedAs });
  if (!change.price) return null;
  const isByToken = 'input' in change.price;
  if (isByToken !== (model.unit === 'token')) {
    return isByToken
      ? priceFault('by_unit', { model: model.id, unit: model.unit })
      : priceFault('by_token', { model: model.id });
  }
  const rates = ratesOf(change.price);
  const prices = [
    ...Object.entries(change.price).filter((each): each is [string, string] => typeof each[1] === 'string'),
    ...rates.map(({ unitPrice }, at) => [`rates.${at}.unitPrice`, unitPrice] as const),
  ];
  const faults = prices.map(([name, price]) => excess(name, price, HIGHEST_PRICE));
  return faults.find((fault) => fault !== null) ?? ratesFault(model, rates);
}

function excess(field: string, text: string | null, highest: bigint): PriceFault | null {
  if (text === null) return null;
  const { digits, scale } = parseDecimal(text);
  return digits > highest * 10n ** BigInt(scale)
    ? priceFault('too_high', { field, highest: highest.toString() })
    : null;
}

/** The versions of a change's subject. */
export function versionsOf(
  book: PriceBook,
  change: PriceChange,
): readonly Version<Price | Decimal | GroupRule>[] {
  const found =
    change.kind === 'price'
      ? book.prices.get(change.model)
      : (change.kind === 'multiplier' ? book.multipliers : book.groupRules).get(change.group);
  return found ?? [];
}

/** The latest version of a subject, in force or announced: the base of a proposal. */
export function newestVersion<T>(versions: readonly Version<T>[]): Version<T> | null {
  return versions.reduce<Version<T> | null>(
    (newest, version) => (newest && newest.id > version.id ? newest : version),
    null,
  );
}

/** The book with the changes in force from a time on. Their versions have negative ids. */
export function withChanges(book: PriceBook, changes: readonly PriceChange[], fromMs: number): PriceBook {
  const prices = new Map(book.prices);
  const multipliers = new Map(book.multipliers);
  const groupRules = new Map(book.groupRules);
  changes.forEach((change, at) => {
    const version = { id: BigInt(-1 - at), effectiveFromMs: fromMs };
    if (change.kind === 'price') insert(prices, change.model, { ...version, value: priceOf(change.price) });
    else if (change.kind === 'multiplier') {
      const value = change.multiplier === null ? null : parseDecimal(change.multiplier);
      insert(multipliers, change.group, { ...version, value });
    } else
      insert(groupRules, change.group, {
        ...version,
        value: groupRuleOf(change.rule === 'none' ? null : change.unitPrice),
      });
  });
  return { ...book, prices, multipliers, groupRules };
}

function insert<T>(subjects: Map<string, readonly Version<T>[]>, subject: string, version: Version<T>): void {
  const versions = subjects.get(subject) ?? [];
  const before = versions.filter((each) => each.effectiveFromMs <= version.effectiveFromMs);
  subjects.set(subject, [...before, version, ...versions.slice(before.length)]);
}

/** The change that would set a version's value again: for exports and comparisons. */
export function changeOf(
  change: Pick<PriceChange, 'kind'> & { model?: string; group?: string },
  value: Price | Decimal | GroupRule | null,
): PriceChange {
  const { kind, model = '', group = '' } = change;
  if (kind === 'price') return { kind, model, price: value && priceText(value as Price) };
  if (kind === 'multiplier') return { kind, group, multiplier: value && plainDecimal(value as Decimal) };
  const rule = value as GroupRule | null;
  return rule?.kind === 'fixed_per_call'
    ? { kind, group, rule: 'fixed_per_call', unitPrice: plainDecimal(rule.unitPrice) }
    : { kind, group, rule: 'none' };
}

/** Whether two changes of one subject ask for the same value, however it is written. */
export function sameChange(a: PriceChange, b: PriceChange): boolean {
  const first = changeDecimals(a);
  const second = changeDecimals(b);
  if (!first || !second) return first === second;
  return (
    whensOf(a) === whensOf(b) &&
    first.length === second.length &&
    first.every((each, at) => equalDecimals(each, second[at] ?? { digits: 0n, scale: 0 }))
  );
}

/** The amounts of a price, in order. The same for changes with comparable amounts. */
export function whensOf(change: PriceChange): string {
  const price = change.kind === 'price' ? change.price : null;
  const media = price && 'input' in price ? mediaNames.filter((name) => price[name] !== undefined) : [];
  return [...ratesOf(price).map(({ when }) => whenText(when)), ...media].join('; ');
}

/** The numbers of a change; null if it withdraws a value, or ends a rule. */
export function changeDecimals(change: PriceChange): Decimal[] | null {
  if (change.kind === 'multiplier')
    return change.multiplier === null ? null : [parseDecimal(change.multiplier)];
  if (change.kind === 'rule') return change.rule === 'none' ? null : [parseDecimal(change.unitPrice)];
  const price = priceOf(change.price);
  if (!price) return null;
  if (price.kind === 'unit') return [price, ...(price.rates ?? [])].map(({ unitPrice }) => unitPrice);
  const { cacheWrite, cacheWrite1h } = cacheWritePrices(price);
  const media = mediaNames.flatMap((name) => price[name] ?? []);
  return [price.input, price.cachedInput, price.output, cacheWrite, cacheWrite1h, ...media];
}

/** The value of a change in words, for messages and lists. */
export function changeText(change: PriceChange): string {
  if (change.kind === 'multiplier') return change.multiplier ?? 'withdrawn';
  if (change.kind === 'rule') return change.rule === 'none' ? 'none' : `${change.unitPrice} for each call`;
  if (!change.price) return 'withdrawn';
  const { price } = change;
  if ('unitPrice' in price) {
    const rates = ratesText(ratesOf(price));
    return rates === '' ? price.unitPrice : `${price.unitPrice}, with rates ${rates}`;
  }
  const { input, cachedInput, output } = price;
  const others = optionalPrices.flatMap((name) => {
    return price[name] === undefined ? [] : [`${price[name]} ${WORDS[name]}`];
  });
  return `${[`${input} input`, `${cachedInput} cached`, `${output} output`, ...others].join(', ')} per million tokens`;
}

const WORDS: Record<(typeof optionalPrices)[number], string> = {
  cacheWrite: 'cache write',
  cacheWrite1h: 'one-hour cache write',
  imageInput: 'image input',
  cachedImageInput: 'cached image input',
  imageOutput: 'image output',
  audioInput: 'audio input',
  cachedAudioInput: 'cached audio input',
  audioOutput: 'audio output',
};
