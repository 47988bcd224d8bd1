import { isInGroup } from '#groups/access.js';
import {
  type GroupTerms,
  groupTermsAt,
  groupTermsNamed,
  type NamedGroupTerms,
  wereTermsInForce,
} from '#groups/terms.js';
import { type Version, versionAt, versionById, wasInForce } from '#groups/version.js';
import type { Price, PriceBook, PricedModel } from './price-book.js';

export type QuoteRefusal = 'model_not_found';

export interface TermsRequest {
  model: string;
  group: string;
  /** The time that decides which versions are in force, milliseconds. */
  atMs: number;
}

/** The price of a model in a group at a time, without units: the versions in force and what follows from them. */
export interface Terms extends Omit<GroupTerms, 'fixedPrice'> {
  readonly model: PricedModel;
  /** The list price, or the fixed price of the group. */
  readonly price: Price;
  /** Null if the group's fixed price replaces the list price. */
  readonly priceVersionId: bigint | null;
}

/** The versions that a charge names. */
export interface NamedVersions extends NamedGroupTerms {
  readonly model: string;
  readonly priceVersionId: bigint | null;
}

/**
 * The terms of a model in a group at a time. A model outside the group, withdrawn, switched off or without a price is
 * 'model_not_found'.
 */
export function termsAt(book: PriceBook, { model: id, group, atMs }: TermsRequest): Terms | QuoteRefusal {
  const model = book.models.get(id);
  if (!model?.enabled || !isInGroup(book, group, model.id)) return 'model_not_found';
  const ofGroup = groupTermsAt(book, { group, unit: model.unit, atMs });
  return termsOf(model, ofGroup, versionAt(book.prices.get(model.pricedAs), atMs));
}

/** The terms of an earlier charge, from the versions that it names, whatever is in force now. */
export function termsOfVersions(book: PriceBook, named: NamedVersions): Terms | QuoteRefusal {
  const model = book.models.get(named.model);
  if (!model) return 'model_not_found';
  const price = versionById(book.prices.get(model.pricedAs), named.priceVersionId);
  return termsOf(model, groupTermsNamed(book, named), price);
}

/** Whether the versions named by a charge were in force at a time, milliseconds. */
export function wereVersionsInForce(book: PriceBook, named: NamedVersions, atMs: number): boolean {
  const pricedAs = book.models.get(named.model)?.pricedAs ?? named.model;
  return (
    wereTermsInForce(book, named, atMs) && wasInForce(book.prices.get(pricedAs), named.priceVersionId, atMs)
  );
}

function termsOf(
  model: PricedModel,
  ofGroup: GroupTerms | null,
  listed: Version<Price> | undefined,
): Terms | QuoteRefusal {
  if (!ofGroup) return 'model_not_found';
  const { fixedPrice, ...rest } = ofGroup;
  if (fixedPrice) {
    return { ...rest, model, price: { kind: 'unit', unitPrice: fixedPrice }, priceVersionId: null };
  }
  if (!listed?.value) return 'model_not_found';
  return { ...rest, model, price: listed.value, priceVersionId: listed.id };
}
