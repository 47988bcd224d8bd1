import type { ConfigReader } from '#platform/config.js';

/** Of the marketplace; durations in milliseconds. */
export interface MarketConfig {
  /** How long a proposal of prices can be confirmed. */
  readonly proposalLifeMs: number;
  /** How long others may keep the public price list without asking again. */
  readonly priceListAgeMs: number;
}

export function readMarketConfig(reader: ConfigReader): MarketConfig {
  return {
    proposalLifeMs: reader.get('PRICE_PROPOSAL_LIFE_SECONDS'),
    priceListAgeMs: reader.get('PRICE_LIST_AGE_SECONDS'),
  };
}
