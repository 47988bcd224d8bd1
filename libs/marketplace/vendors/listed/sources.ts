import type { RateText } from '#pricing/price-text.js';
import type { Dimensions } from '#pricing/rates.js';

/** Sites that republish vendors' prices. */
export const LITELLM = 'the price list of LiteLLM of that day';
export const API_EVANGELIST = 'the pricing files of API Evangelist';

export function listedRate(when: Dimensions, unitPrice: string): RateText {
  return { when, unitPrice };
}
