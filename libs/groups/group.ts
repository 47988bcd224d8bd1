import type { Decimal } from '#money/amount.js';

/** The group whose keys may use video and vendor image models. */
export const VENDORA_MAIN = 'Vendora-Main';
/** The semi-public group with a fixed price for each call. */
export const PUBLIC_RELAY = 'Public-Relay';

/** The vendor whose images, as all videos, are for Vendora-Main alone. */
export const VENDORA = 'vendora';

/**
 * Whether a group may serve a model at all, whatever the catalog says: videos and the vendor's own image models are for
 * Vendora-Main alone. `owners`: of the model, and of the one that it is an alias of.
 */
export function mayServe(
  group: string,
  { family, owners }: { family: string; owners: readonly string[] },
): boolean {
  if (group === VENDORA_MAIN) return true;
  const isVendors = owners.some((owner) => owner.trim().toLowerCase() === VENDORA);
  return family !== 'video' && !(family === 'image' && isVendors);
}

/** A group's rule at one time: what replaces the list price. */
export type GroupRule =
  | { readonly kind: 'none' }
  /** Every call costs this many credits, whatever its model's list price. */
  | { readonly kind: 'fixed_per_call'; readonly unitPrice: Decimal };
