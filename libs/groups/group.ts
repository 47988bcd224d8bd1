import type { Decimal } from '#money/amount.js';

/** The group whose keys may use video and vendor image models (spec 4.3 rule 1, 5.3). */
export const VENDORA_MAIN = 'Vendora-Main';
/** The semi-public group with a fixed price for each call (spec 1). */
export const PUBLIC_RELAY = 'Public-Relay';

/** A group's rule at one time: what stands in place of the list price. */
export type GroupRule =
  | { readonly kind: 'none' }
  /** Every call costs this many credits, whatever its model's list price. */
  | { readonly kind: 'fixed_per_call'; readonly unitPrice: Decimal };
