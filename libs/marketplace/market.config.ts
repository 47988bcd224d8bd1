import type { ConfigReader } from '#platform/config.js';

/** Marketplace settings. Durations are in milliseconds. */
export interface MarketConfig {
  /** How long a price proposal can be confirmed. */
  readonly proposalLifeMs: number;
  /** How long others may cache the public price list. */
  readonly priceListAgeMs: number;
}

export function readMarketConfig(reader: ConfigReader): MarketConfig {
  return {
    proposalLifeMs: reader.get('PRICE_PROPOSAL_LIFE_SECONDS'),
    priceListAgeMs: reader.get('PRICE_LIST_AGE_SECONDS'),
  };
}
