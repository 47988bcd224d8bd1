import { languageFacts, type MailLanguage } from '#identity/language.js';
import { formatAmount, readableAmount } from '#money/amount.js';
import { moneyText } from '#money/currency.js';
import { buyerLines, issuerLines, type ReceiptLook } from '#payments/receipts/receipt.pdf.js';
import { pdfOf, type PdfRow } from '#platform/pdf/pdf-file.js';
import { minuteOf } from '#platform/times.js';
import { keysOf, type MonthlyStatement } from './monthly-statement.js';
import { monthlyTexts } from './statement.texts.js';

/** The keys with the highest charges have rows of their own. The others share one. */
const MOST_KEYS = 100;

/**
 * The statement of a month as a PDF: credits lead from the opening to the closing balance, with keys and payments
 * beside them.
 */
export function statementPdf(statement: MonthlyStatement, look: ReceiptLook): Promise<Buffer> {
  const t = monthlyTexts[look.language];
  const { tag } = languageFacts[look.language];
  const { month, key, accountId, to } = statement;
  const sections = [{ title: t.credits, rows: creditRows(statement, look.language) }];
  if (!key) {
    sections.push({ title: t.byKey, rows: keyRows(statement, look.language) });
    sections.push({ title: t.money, rows: moneyRows(statement, look.language) });
  }
  return pdfOf({
    language: tag,
    title: t.title(monthIn(tag, month)),
    lines: [
      ...issuerLines(look),
      ...buyerLines(statement, look.language),
      `${t.account} ${accountId}`,
      ...(key ? [`${t.key} ${key.name} (${key.keyId})`] : []),
      `${t.upTo} ${minuteOf(to)}`,
    ],
    sections,
    notes: [key ? t.keyNote : t.note],
  });
}

function monthIn(language: string, month: string): string {
  const format = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'long', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01T00:00:00Z`));
}

function creditRow(label: string, nanos: bigint, isTotal = false): PdfRow {
  return { label, value: readableAmount(formatAmount(nanos)), isTotal, isAligned: true };
}

function creditRows({ balances, moves }: MonthlyStatement, language: MailLanguage): PdfRow[] {
  const t = monthlyTexts[language];
  const kinds: Readonly<Record<string, string>> = t.kinds;
  const { colon } = languageFacts[language];
  const labelOf = ({ kind, model }: MonthlyStatement['moves'][number]) =>
    kind === 'settle'
      ? `${t.charges}${colon}${model ?? t.noModel}`
      : [kinds[kind] ?? t.otherKind, ...(model === null ? [] : [model])].join(colon);
  const rows = moves.map((move) => creditRow(labelOf(move), move.amount));
  if (balances === null) {
    const total = moves.reduce((sum, { amount }) => sum + amount, 0n);
    return [...rows, creditRow(t.total, total, true)];
  }
  return [
    creditRow(t.opening, balances.opening, true),
    ...rows,
    creditRow(t.closing, balances.closing, true),
  ];
}

function keyRows(statement: MonthlyStatement, language: MailLanguage): PdfRow[] {
  const t = monthlyTexts[language];
  const keys = keysOf(statement);
  if (keys.length === 0) return [{ label: t.noCharges, value: t.nothing }];
  const netOf = (of: typeof keys) => of.reduce((sum, { charged, refunded }) => sum + refunded - charged, 0n);
  const others = keys.slice(MOST_KEYS);
  return [
    ...keys
      .slice(0, MOST_KEYS)
      .map((each) =>
        creditRow(`${each.keyName ?? each.keyId ?? t.noKey} (${t.requests(each.requests)})`, netOf([each])),
      ),
    ...(others.length === 0 ? [] : [creditRow(t.otherKeys, netOf(others))]),
    creditRow(t.total, netOf(keys), true),
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
