import type { ConfigReader } from '#platform/config.js';

/** Marketplace settings. Durations are in milliseconds. */
export function readMarketConfig(reader: ConfigReader) {
  return {
    /** How long a price proposal can be confirmed. */
    proposalLifeMs: reader.get('PRICE_PROPOSAL_LIFE_SECONDS'),
    /** How long others may cache the public price list. */
    priceListAgeMs: reader.get('PRICE_LIST_AGE_SECONDS'),
  };
}
