import { parseAmount } from '#money/amount.js';
import type { ConfigReader } from '#platform/config.js';

/** What one person can do without a second one. Amounts are nanos per person and UTC day. */
export function readDutiesConfig(reader: ConfigReader) {
  return {
    refundLimit: parseAmount(reader.get('REFUND_LIMIT')),
    /** Refunds of top-ups, and money returned from suspense. */
    topupRefundLimit: parseAmount(reader.get('TOPUP_REFUND_LIMIT')),
    /** Manually recorded transfers, and money credited from suspense. */
    manualTopupLimit: parseAmount(reader.get('MANUAL_TOPUP_LIMIT')),
    /** Adjustments, write-offs, costs out of suspense, and lines of providers that are accepted or book a dispute. */
    adjustmentLimit: parseAmount(reader.get('ADJUSTMENT_LIMIT')),
    /** How far prices may move, up or down, in percent. */
    priceChangePercent: reader.get('PRICE_CHANGE_LIMIT_PERCENT'),
    /** The installation declares that there is no second person. */
    onePerson: reader.get('ONE_PERSON'),
  };
}
