import type pg from 'pg';
import { post } from '#ledger/postings/posting.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { accountIn, openAccounts } from './line-postings.js';
import { isPayout, type LineType, type ReportingProvider } from './report-line.js';

/** A line with its accepted version, next to what our books have: its first version, and later corrections. */
export interface CorrectedLine {
  line: bigint;
  provider: ReportingProvider;
  lineId: string;
  type: LineType;
  currency: string;
  subjectId: string;
  through: bigint;
  firstAmount: bigint;
  firstFee: bigint;
  /** The version that counted until now. */
  heldAmount: bigint;
  amount: bigint;
  fee: bigint;
  correctedAmount: bigint;
  correctedFee: bigint;
  /** The posting of its first version, if any. */
  transactionId: bigint | null;
  /** The totals of both sides, by the versions that counted until now. */
  standing: { ours: bigint | null; theirs: bigint | null };
}

interface Correction {
  amount: bigint;
  fee: bigint;
  transactionId: bigint | null;
  suspenseItemId: string | null;
}

/**
 * Corrects our books to the accepted version of a line. Fees and payouts are posted from lines alone, so the difference is posted
 * and linked to what it corrects. Everything else belongs to customers: if our books agreed with the previous version, the
 * difference goes to suspense, for people to classify; if they agree with the new version, nothing is left to do; if with neither,
 * the line continues to differ. The caller has locked the provider's reports.
 * @param house its currency, ISO 4217
 */
export async function correctLine(
  client: pg.ClientBase,
  { acceptanceId, line, house }: { acceptanceId: string; line: CorrectedLine; house: string },
): Promise<void> {
  const posted = await postDifference(client, { acceptanceId, line, house });
  const suspenseItemId = await suspendDifference(client, line, house);
  if (posted.transactionId !== null || suspenseItemId !== null)
    await noteCorrection(client, { acceptanceId, line: line.line }, { ...posted, suspenseItemId });
}

/** A fee's own amount and its extra fees are one cost. */
function feeOf(type: LineType, amount: bigint, fee: bigint): bigint {
  return type === 'fee' ? fee - amount : fee;
}

async function postDifference(
  client: pg.ClientBase,
  { acceptanceId, line, house }: { acceptanceId: string; line: CorrectedLine; house: string },
): Promise<Pick<Correction, 'amount' | 'fee' | 'transactionId'>> {
  const { type, currency, provider, firstAmount, firstFee, correctedAmount, correctedFee } = line;
  const fee = feeOf(type, line.amount, line.fee) - feeOf(type, firstAmount, firstFee) - correctedFee;
  const amount = isPayout(line) ? line.amount - firstAmount - correctedAmount : 0n;
  if (fee === 0n && amount === 0n) return { amount, fee, transactionId: null };
  await openAccounts(client, [line], house);
  const code = (name: string) => accountIn(name, { currency, house });
  const movements = [
    { code: code('expense:psp-fee'), commodity: 'PAY' as const, amount: -fee },
    { code: code('bank'), commodity: 'PAY' as const, amount },
    { code: code(`psp:${provider}`), commodity: 'PAY' as const, amount: fee - amount },
  ];
  const transactionId = await post(client, {
    kind: 'report-line-change',
    reference: `report-line-change:${acceptanceId}`,
    accountId: null,
    ...(line.transactionId === null ? {} : { linkedId: line.transactionId }),
    movements: movements.filter((movement) => movement.amount !== 0n),
  });
  return { amount, fee, transactionId };
}

async function suspendDifference(
  client: pg.ClientBase,
  { provider, lineId, type, currency, through, heldAmount, amount, standing }: CorrectedLine,
  house: string,
): Promise<string | null> {
  if (type === 'fee' || isPayout({ type }) || amount === heldAmount) return null;
  if (standing.ours === null || standing.ours !== standing.theirs) return null;
  const reference = `${lineId}:${through}`;
  const item = { provider, reference, orderId: null, currency, why: 'provider_adjustment' } as const;
  const { itemId } = await bookSuspense(client, { ...item, amountMinor: amount - heldAmount }, house);
  return itemId;
}

async function noteCorrection(
  client: pg.ClientBase,
  { acceptanceId, line }: { acceptanceId: string; line: bigint },
  { amount, fee, transactionId, suspenseItemId }: Correction,
): Promise<void> {
  await client.query(
    `INSERT INTO provider_line_corrections (acceptance_id, line, amount_minor, fee_minor, transaction_id, suspense_item_id)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [acceptanceId, line, amount, fee, transactionId, suspenseItemId],
  );
}
