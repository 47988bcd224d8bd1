import { type Decimal, parseDecimal } from '#money/amount.js';
import type { GroupAccess } from './access.js';
import { type Version, versionAt, versionById, wasInForce } from './version.js';

/** A group's rule at one time: what replaces the list price. */
export type GroupRule =
  | { readonly kind: 'none' }
  /** Every call costs this many credits, whatever its model's list price. */
  | { readonly kind: 'fixed_per_call'; readonly unitPrice: Decimal };

/** Everything that groups decide, as plain values, with all past and announced versions. */
export interface GroupBook {
  /** Versions per group, ascending by start. */
  readonly multipliers: ReadonlyMap<string, readonly Version<Decimal>[]>;
  readonly groupRules: ReadonlyMap<string, readonly Version<GroupRule>[]>;
  readonly access: GroupAccess;
}

/** What a group does to the list price of a model. */
export interface GroupTerms {
  readonly rule: 'list' | 'fixed_per_call';
  /** 1 under a fixed price, which no multiplier touches. */
  readonly multiplier: Decimal;
  /** Replaces the list price; null: the list price applies. */
  readonly fixedPrice: Decimal | null;
  readonly multiplierVersionId: bigint;
  /** The version of the fixed price, if there is one. */
  readonly groupRuleVersionId: bigint | null;
}

/** The versions of a group's terms that a charge names. */
export interface NamedGroupTerms {
  readonly group: string;
  readonly multiplierVersionId: bigint;
  readonly groupRuleVersionId: bigint | null;
}

const ONE: Decimal = { digits: 1n, scale: 0 };

/** A rule with a fixed price, given as decimal text; null: the group has none. @throws InvalidAmount */
export function groupRuleOf(fixedPerCall: string | null): GroupRule {
  return fixedPerCall === null
    ? { kind: 'none' }
    : { kind: 'fixed_per_call', unitPrice: parseDecimal(fixedPerCall) };
}

/** The fixed price of a group's calls at a time, or null. */
export function fixedPriceAt(book: GroupBook, group: string, atMs: number): Decimal | null {
  const rule = versionAt(book.groupRules.get(group), atMs)?.value;
  return rule?.kind === 'fixed_per_call' ? rule.unitPrice : null;
}

/** The multiplier of a group at a time; null before its first version, and if it is withdrawn. */
export function multiplierAt(book: GroupBook, group: string, atMs: number): Decimal | null {
  return versionAt(book.multipliers.get(group), atMs)?.value ?? null;
}

/** Whether a fixed price applies to this unit: it is per call, not per second or token. */
export function takesFixedPrice(unit: string): boolean {
  return unit === 'call';
}

/** The terms of a group at a time for a model with this unit. Null: the group sells nothing then. */
export function groupTermsAt(
  book: GroupBook,
  { group, unit, atMs }: { group: string; unit: string; atMs: number },
): GroupTerms | null {
  const rule = takesFixedPrice(unit) ? versionAt(book.groupRules.get(group), atMs) : undefined;
  return termsOf(versionAt(book.multipliers.get(group), atMs), rule);
}

/** The terms named by a charge, whatever is in force now; null if the versions are not in the book. */
export function groupTermsNamed(book: GroupBook, named: NamedGroupTerms): GroupTerms | null {
  const { group, multiplierVersionId, groupRuleVersionId } = named;
  return termsOf(
    versionById(book.multipliers.get(group), multiplierVersionId),
    versionById(book.groupRules.get(group), groupRuleVersionId),
  );
}

/** Whether the terms named by a charge were in force at a time. */
export function wereTermsInForce(book: GroupBook, named: NamedGroupTerms, atMs: number): boolean {
  const { group, multiplierVersionId, groupRuleVersionId } = named;
  return (
    wasInForce(book.multipliers.get(group), multiplierVersionId, atMs) &&
    wasInForce(book.groupRules.get(group), groupRuleVersionId, atMs)
  );
}

function termsOf(
  multiplier: Version<Decimal> | undefined,
  rule: Version<GroupRule> | undefined,
): GroupTerms | null {
  if (!multiplier?.value) return null;
  const multiplierVersionId = multiplier.id;
  if (rule?.value?.kind !== 'fixed_per_call') {
    const { value } = multiplier;
    return {
      rule: 'list',
      multiplier: value,
      fixedPrice: null,
      multiplierVersionId,
      groupRuleVersionId: null,
    };
  }
  return {
    rule: 'fixed_per_call',
    multiplier: ONE,
    fixedPrice: rule.value.unitPrice,
    multiplierVersionId,
    groupRuleVersionId: rule.id,
  };
}
