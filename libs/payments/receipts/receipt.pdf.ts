import { languageFacts, type MailLanguage } from '#identity/language.js';
import { formatAmount, readableAmount } from '#money/amount.js';
import { moneyText } from '#money/currency.js';
import { type PdfContent, pdfOf, type PdfRow } from '#platform/pdf/pdf-file.js';
import { minuteOf } from '#platform/times.js';
import type { BillingDetails } from './billing-details.js';
import type { Issuer } from './issuer.js';
import type { Receipt } from './receipt.store.js';
import { receiptTexts } from './receipt.texts.js';

export interface ReceiptLook {
  readonly issuer: Issuer;
  readonly language: MailLanguage;
}

/** The receipt of one payment as a PDF: the recorded amounts, and later refunds. */
export function receiptPdf(receipt: Receipt, look: ReceiptLook): Promise<Buffer> {
  const t = receiptTexts[look.language];
  const reversals = reversalRows(receipt, look);
  return pdfOf({
    language: languageFacts[look.language].tag,
    title: t.title,
    lines: issuerLines(look),
    sections: [
      { title: t.payment, rows: paymentRows(receipt, look) },
      { title: t.bought, rows: boughtRows(receipt, look) },
      ...(reversals.length === 0 ? [] : [{ title: t.reversals, rows: reversals }]),
    ],
    notes: [t.note],
  } satisfies PdfContent);
}

/** The issuer of a document, one line each. */
export function issuerLines({ issuer: { name, address, taxId }, language }: ReceiptLook): string[] {
  const { issuer } = receiptTexts[language];
  return [`${issuer} ${name}`, ...addressLines({ address, taxId }, languageFacts[language].taxId)];
}

/** Whom a document names as the buyer, one line each. Without a legal name that is the account. */
export function buyerLines(
  { name, buyer }: { name: string; buyer: BillingDetails },
  language: MailLanguage,
): string[] {
  return [buyer.name ?? name, ...addressLines(buyer, languageFacts[language].customerTaxId)];
}

function addressLines({ address, taxId }: Omit<BillingDetails, 'name'>, taxLabel: string): string[] {
  return [...(address === null ? [] : [address]), ...(taxId === null ? [] : [`${taxLabel} ${taxId}`])];
}

function paymentRows(receipt: Receipt, { language }: ReceiptLook): PdfRow[] {
  const t = receiptTexts[language];
  const { topupId, accountId, paidAt, provider, paymentId } = receipt;
  return [
    { label: t.number, value: topupId },
    { label: t.customer, value: buyerLines(receipt, language).join('\n') },
    { label: t.account, value: accountId },
    { label: t.paidAt, value: minuteOf(paidAt.toISOString()) },
    { label: t.method, value: t.methods[provider] },
    { label: t.reference, value: paymentId },
  ];
}

function boughtRows({ credits, rate, paidMinor, currency }: Receipt, { language }: ReceiptLook): PdfRow[] {
  const t = receiptTexts[language];
  return [
    { label: t.credits, value: readableAmount(formatAmount(credits)) },
    { label: t.rate, value: `${readableAmount(rate)} ${currency}` },
    { label: t.paid, value: moneyText(paidMinor, currency), isTotal: true },
  ];
}

/** A failed refund and a dispute that was won took nothing. */
function reversalRows({ refunds, disputes, currency }: Receipt, { language }: ReceiptLook): PdfRow[] {
  const t = receiptTexts[language];
  const rowsOf = (label: string, found: readonly { payMinor: bigint; on: Date }[]) =>
    found.map(({ payMinor, on }) => ({
      label: `${label}, ${minuteOf(on.toISOString())}`,
      value: moneyText(-payMinor, currency),
    }));
  return [
    ...rowsOf(
      t.refund,
      // By the day on which the monthly statement counts it.
      refunds
        .filter(({ state }) => state === 'succeeded')
        .map(({ payMinor, at, endedAt }) => ({ payMinor, on: endedAt ?? at })),
    ),
    ...rowsOf(
      t.dispute,
      disputes.filter(({ state }) => state !== 'won').map(({ payMinor, at }) => ({ payMinor, on: at })),
    ),
  ];
}
