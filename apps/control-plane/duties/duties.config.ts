import { type Nanos, parseAmount } from '#money/amount.js';
import type { ConfigReader } from '#platform/config.js';

/** What one person may do without a second one. Amounts are nanos, for a person and a day of UTC. */
export interface DutiesConfig {
  /** Refunds of charges. */
  readonly refundLimit: Nanos;
  /** Refunds of top-ups. */
  readonly topupRefundLimit: Nanos;
  /** Transfers that are recorded by hand, and money in suspense that is credited. */
  readonly manualTopupLimit: Nanos;
  /** Adjustments, debts that are given up, and lines of providers that are accepted. */
  readonly adjustmentLimit: Nanos;
  /** How far prices may move, up or down, in percent. */
  readonly priceChangePercent: number;
  /** The installation declares that there is no second person. */
  readonly onePerson: boolean;
}

const DECIMAL = { pattern: /^\d{1,9}(\.\d{1,9})?$/, rule: 'must be an amount such as 1000 or 0.5' };

export function readDutiesConfig(reader: ConfigReader): DutiesConfig {
  const limit = (name: string, fallback: string) =>
    parseAmount(reader.matching(name, { ...DECIMAL, fallback }));
  return {
    refundLimit: limit('REFUND_LIMIT', '20'),
    topupRefundLimit: limit('TOPUP_REFUND_LIMIT', '100'),
    manualTopupLimit: limit('MANUAL_TOPUP_LIMIT', '1000'),
    adjustmentLimit: limit('ADJUSTMENT_LIMIT', '20'),
    priceChangePercent: reader.integer('PRICE_CHANGE_LIMIT_PERCENT', { fallback: 20, min: 0, max: 100 }),
    onePerson: reader.boolean('ONE_PERSON', false),
  };
}
