import type { MailLanguage } from '#identity/mail-language.js';
import { formatAmount } from '#money/amount.js';
import { moneyText } from '#money/currency.js';
import { issuerLines, type ReceiptLook } from '#payments/receipts/receipt.pdf.js';
import { pdfOf, type PdfRow } from '#platform/pdf/pdf-file.js';
import { minuteOf } from '#platform/times.js';
import type { MonthlyStatement } from './monthly-statement.js';
import { monthlyTexts } from './statement.texts.js';

/** The statement of a month as a PDF: credits lead from the opening to the closing balance, and money is beside them. */
export function statementPdf(statement: MonthlyStatement, look: ReceiptLook): Promise<Buffer> {
  const t = monthlyTexts[look.language];
  const { month, name, accountId, to } = statement;
  return pdfOf({
    language: t.tag,
    title: `${t.title} ${month}`,
    lines: [...issuerLines(look), name, `${t.account} ${accountId}`, `${t.upTo} ${minuteOf(to)}`],
    sections: [
      { title: t.credits, rows: creditRows(statement, look.language) },
      { title: t.money, rows: moneyRows(statement, look.language) },
    ],
    notes: [t.note],
  });
}

function creditRows({ opening, closing, moves }: MonthlyStatement, language: MailLanguage): PdfRow[] {
  const t = monthlyTexts[language];
  const labelOf = ({ kind, model }: MonthlyStatement['moves'][number]) =>
    kind === 'settle'
      ? `${t.charges}: ${model ?? t.noModel}`
      : [t.kinds[kind] ?? t.otherKind, ...(model === null ? [] : [model])].join(': ');
  return [
    { label: t.opening, value: formatAmount(opening), isTotal: true },
    ...moves.map((move) => ({ label: labelOf(move), value: formatAmount(move.amount) })),
    { label: t.closing, value: formatAmount(closing), isTotal: true },
  ];
}

function moneyRows({ money }: MonthlyStatement, language: MailLanguage): PdfRow[] {
  const t = monthlyTexts[language];
  if (money.length === 0) return [{ label: t.paid, value: t.nothing }];
  return money.map(({ what, count, amountMinor, currency }) => ({
    label: `${t[what]} (${count})`,
    value: moneyText(amountMinor, currency),
  }));
}
