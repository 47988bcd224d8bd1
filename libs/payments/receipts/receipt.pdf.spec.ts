import { expect, it } from 'vitest';
import { textsOfPdf } from '../../../test/support/pdf.js';
import { NO_DETAILS } from './billing-details.js';
import { receiptPdf } from './receipt.pdf.js';
import type { Receipt } from './receipt.store.js';

const AT = new Date('2026-11-23T05:10:59Z');
const receipt: Receipt = {
  topupId: 'topup-1',
  accountId: 'account-1',
  name: 'A customer',
  buyer: NO_DETAILS,
  credits: 10_000_000_000n,
  paidMinor: 1_300n,
  currency: 'USD',
  rate: '1.3',
  provider: 'stripe',
  paymentId: 'pi_1',
  paidAt: AT,
  refunds: [],
  disputes: [],
};
const LOOK = { issuer: { name: 'Tollgate', address: null, taxId: null }, language: 'en' } as const;
const sums = { credits: 1_000_000_000n, at: AT, endedAt: AT };

it('lists what was returned, without failed refunds and disputes that were won', async () => {
  const file = await receiptPdf(
    {
      ...receipt,
      refunds: [
        { ...sums, payMinor: 130n, state: 'succeeded' },
        { ...sums, payMinor: 131n, state: 'failed' },
      ],
      disputes: [
        { ...sums, payMinor: 132n, state: 'open' },
        { ...sums, payMinor: 133n, state: 'won' },
      ],
    },
    LOOK,
  );
  const texts = textsOfPdf(file);
  expect(texts).toEqual(expect.arrayContaining(['Refunded, 2026-11-23 05:10 UTC', '-1.30 USD', '-1.32 USD']));
  expect(texts.filter((text) => text.startsWith('-'))).toHaveLength(2);
  expect(texts.filter((text) => text.startsWith('Disputed'))).toHaveLength(1);
});

it('leaves out what does not exist', async () => {
  const texts = textsOfPdf(await receiptPdf(receipt, LOOK));
  expect(texts).toEqual(expect.arrayContaining(['10.00', '1.30 USD', '13.00 USD', 'pi_1', 'Stripe']));
  expect(texts.join('\n')).not.toMatch(/Tax ID|Refunded|Disputed|null|undefined/);
});
