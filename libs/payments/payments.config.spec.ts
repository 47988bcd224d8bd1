import { describe, expect, it } from 'vitest';
import { minorDigits } from '#money/currency.js';
import { readAlone } from '#platform/config.js';
import { readPaymentCurrency } from './payments.config.js';

const take = (currency: string) => readAlone({ PAYMENT_CURRENCY: currency }, readPaymentCurrency);

describe('the currency that customers pay in', () => {
  it.each(Intl.supportedValuesOf('currency'))('can be %s exactly if it has two decimals', (currency) => {
    if (minorDigits(currency) === 2) expect(take(currency)).toBe(currency);
    else expect(() => take(currency)).toThrow('PAYMENT_CURRENCY must be the code of a currency with two');
  });
});
