import type { RateText } from '#pricing/price-text.js';
import type { Dimensions } from '#pricing/rates.js';

/** Sites that republish vendors' prices. */
export const LITELLM = "LiteLLM's price list";
export const API_EVANGELIST = "API Evangelist's pricing files";

export function listedRate(when: Dimensions, unitPrice: string): RateText {
  return { when, unitPrice };
}
