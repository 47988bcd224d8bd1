import { type Nanos, parseAmount } from '#money/amount.js';
import type { ConfigReader } from '#platform/config.js';

/** What one person can do without a second one. Amounts are nanos per person and UTC day. */
export interface DutiesConfig {
  /** Refunds of charges. */
  readonly refundLimit: Nanos;
  /** Refunds of top-ups, and money returned from suspense. */
  readonly topupRefundLimit: Nanos;
  /** Manually recorded transfers, and money credited from suspense. */
  readonly manualTopupLimit: Nanos;
  /** Adjustments, write-offs, costs out of suspense, and lines of providers that are accepted or book a dispute. */
  readonly adjustmentLimit: Nanos;
  /** How far prices may move, up or down, in percent. */
  readonly priceChangePercent: number;
  /** The installation declares that there is no second person. */
  readonly onePerson: boolean;
}

export function readDutiesConfig(reader: ConfigReader): DutiesConfig {
  return {
    refundLimit: parseAmount(reader.get('REFUND_LIMIT')),
    topupRefundLimit: parseAmount(reader.get('TOPUP_REFUND_LIMIT')),
    manualTopupLimit: parseAmount(reader.get('MANUAL_TOPUP_LIMIT')),
    adjustmentLimit: parseAmount(reader.get('ADJUSTMENT_LIMIT')),
    priceChangePercent: reader.get('PRICE_CHANGE_LIMIT_PERCENT'),
    onePerson: reader.get('ONE_PERSON'),
  };
}
