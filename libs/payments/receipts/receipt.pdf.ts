import type { MailLanguage } from '#identity/mail-language.js';
import { formatAmount, readableAmount } from '#money/amount.js';
import { moneyText } from '#money/currency.js';
import { type PdfContent, pdfOf, type PdfRow } from '#platform/pdf/pdf-file.js';
import { minuteOf } from '#platform/times.js';
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
    language: t.tag,
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
  const t = receiptTexts[language];
  const lines = [`${t.issuer} ${name}`, ...(address === null ? [] : [address])];
  return taxId === null ? lines : [...lines, `${t.taxId} ${taxId}`];
}

function paymentRows(receipt: Receipt, { language }: ReceiptLook): PdfRow[] {
  const t = receiptTexts[language];
  const { topupId, name, buyer, accountId, paidAt, provider, paymentId } = receipt;
  return [
    { label: t.number, value: topupId },
    { label: t.customer, value: [buyer.name ?? name, buyer.address].filter(Boolean).join('\n') },
    ...(buyer.taxId === null ? [] : [{ label: t.customerTaxId, value: buyer.taxId }]),
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
