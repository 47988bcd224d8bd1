import type pg from 'pg';
import { isDeleted } from '#identity/account.store.js';
import { settleDebt } from './debt.js';
import { type Dispute, insertDispute, lockDispute, type StoredDispute } from './dispute.js';
import { returnTaken, reversalByRefund } from './dispute-suspense.js';
import { insertLotChange, type Lot, type LotChange, unusedPayment } from '../lots/lots.js';
import { type LockedAccount, lockBalances, post } from './posting.js';
import { accountsOfReversal, clawBackReward, returnReward } from './reward-clawback.js';
import { lotsOf, unreversed } from './same-money.js';
import { bookSuspense } from './suspense.js';

/**
 * Applies a dispute's state as reported by the provider, in any order and any number of times. Open or lost: Dr main /
 * Cr issued:credit, below zero if necessary, which freezes the account; Dr deferred-revenue for the unused part of the
 * lot and expense:chargeback-loss for the used one / Cr psp; the reward of the top-up is taken back. Won: the exact
 * reversal. A lost dispute can still be won, as banks correct themselves; a won one stays won.
 * @param houseCurrency the currency of PAY, ISO 4217
 * @throws DisputeOfAnotherPayment
 * @returns the state that it is in now
 */
export async function applyDispute(
  client: pg.ClientBase,
  dispute: Dispute,
  houseCurrency: string,
): Promise<Dispute['state']> {
  const accounts = await lockBalances(client, await accountsOfReversal(client, dispute.accountId));
  const stored = await lockDispute(client, dispute);
  if (stored && !isNews(stored.state, dispute.state)) return stored.state;
  if (!stored) {
    await openDispute(client, dispute, { accounts, houseCurrency });
    return dispute.state;
  }
  const reversalId =
    dispute.state === 'won'
      ? await winDispute(client, dispute, { ...stored, accounts, houseCurrency })
      : null;
  await client.query(
    `UPDATE disputes SET state = $3, reversal_transaction_id = $4, closed_at = now()
     WHERE provider = $1 AND dispute_id = $2`,
    [dispute.provider, dispute.disputeId, dispute.state, reversalId],
  );
  return dispute.state;
}

function isNews(stored: Dispute['state'], reported: Dispute['state']): boolean {
  return stored === 'open' ? reported !== 'open' : stored === 'lost' && reported === 'won';
}

interface Context {
  accounts: ReadonlyMap<string, LockedAccount>;
  houseCurrency: string;
}

/** A dispute that was won before we heard of it took nothing. */
async function openDispute(client: pg.ClientBase, dispute: Dispute, context: Context): Promise<void> {
  if (dispute.state === 'won') {
    await insertDispute(client, dispute, { credits: 0n, paidMinor: 0n, transactionId: null });
    return;
  }
  const { provider, disputeId, topupId } = dispute;
  const account = context.accounts.get(dispute.accountId) as LockedAccount;
  const taken = await planChargeback(client, dispute, account);
  const { credits, paidMinor } = taken;
  const isNothing = credits === 0n && paidMinor === 0n;
  const transactionId = isNothing ? null : await postChargeback(client, dispute, { account, taken });
  await insertDispute(client, dispute, { credits, paidMinor, transactionId });
  await bookExcess(client, dispute, { paidMinor, houseCurrency: context.houseCurrency });
  await clawBackReward(client, context.accounts, { topupId, reversal: `dispute:${provider}:${disputeId}` });
  await settleDebt(client, account);
  await client.query(
    `UPDATE topup_orders SET state = 'disputed' WHERE topup_id = $1 AND state IN ('paid', 'refunded')`,
    [topupId],
  );
}

type LotPart = Pick<LotChange, 'lotId' | 'credits' | 'paidMinor'>;

interface Chargeback {
  credits: bigint;
  paidMinor: bigint;
  unused: LotPart[];
}

/**
 * The amount that the bank took, unless it was returned already. A part of a payment takes its part of the credits, also of
 * those that were credited again after a refund had failed.
 */
async function planChargeback(
  client: pg.ClientBase,
  { topupId, amountMinor }: Dispute,
  account: LockedAccount,
): Promise<Chargeback> {
  const lots = await lotsOf(client, account, topupId);
  const left = await unreversed(client, topupId);
  const isWhole = amountMinor >= left.paidMinor;
  const paidMinor = isWhole ? left.paidMinor : amountMinor;
  const credits = isWhole ? left.credits : (left.credits * amountMinor) / left.paidMinor;
  return { credits, paidMinor, unused: unusedParts(lots, { credits, paidMinor }) };
}

/** What is taken of the unused parts of lots. The rest is of used credits. */
function unusedParts(lots: readonly Lot[], taken: Pick<Chargeback, 'credits' | 'paidMinor'>): LotPart[] {
  const left = { ...taken };
  return lots.map((lot) => {
    const credits = left.credits < lot.unused ? left.credits : lot.unused;
    const share = unusedPayment(lot, credits);
    const paidMinor = share < left.paidMinor ? share : left.paidMinor;
    left.credits -= credits;
    left.paidMinor -= paidMinor;
    return { lotId: lot.id, credits, paidMinor };
  });
}

function paymentOf(parts: readonly LotPart[]): bigint {
  return parts.reduce((sum, { paidMinor }) => sum + paidMinor, 0n);
}

/** What the bank took beyond the rest of the payment matches nothing that we know. */
async function bookExcess(
  client: pg.ClientBase,
  { provider, disputeId, topupId, amountMinor, happenedAt = null }: Dispute,
  { paidMinor, houseCurrency }: { paidMinor: bigint; houseCurrency: string },
): Promise<void> {
  if (amountMinor <= paidMinor) return;
  await bookSuspense(
    client,
    {
      provider,
      reference: disputeId,
      orderId: await orderOf(client, topupId),
      amountMinor: paidMinor - amountMinor,
      currency: houseCurrency,
      why: 'dispute_beyond_payment',
      happenedAt,
    },
    houseCurrency,
  );
}

async function postChargeback(
  client: pg.ClientBase,
  { provider, disputeId, happenedAt = null }: Dispute,
  { account, taken }: { account: LockedAccount; taken: Chargeback },
): Promise<bigint> {
  const { credits, paidMinor, unused } = taken;
  const unusedMinor = paymentOf(unused);
  const transactionId = await post(client, {
    kind: 'chargeback',
    reference: `dispute:${provider}:${disputeId}`,
    accountId: account.accountId,
    effectiveAt: happenedAt,
    movements: [
      { account, purpose: 'main', amount: -credits },
      { code: 'issued:credit', commodity: 'CRD', amount: credits },
      { code: `psp:${provider}`, commodity: 'PAY', amount: paidMinor },
      { code: 'deferred-revenue', commodity: 'PAY', amount: -unusedMinor },
      { code: 'expense:chargeback-loss', commodity: 'PAY', amount: unusedMinor - paidMinor },
    ],
  });
  for (const { lotId, ...part } of unused) {
    const left = { credits: -part.credits, paidMinor: -part.paidMinor };
    await insertLotChange(client, { lotId, transactionId, kind: 'chargeback', ...left });
  }
  return transactionId;
}

/** An order stays disputed while another dispute of its payment is open or lost. */
const ORDER_AGAIN = `UPDATE topup_orders SET state = CASE WHEN EXISTS (SELECT FROM topup_refunds r WHERE r.topup_id = $1
    AND r.state = 'succeeded') THEN 'refunded' ELSE 'paid' END
  WHERE topup_id = $1 AND state = 'disputed' AND NOT EXISTS (SELECT FROM disputes d
    WHERE d.topup_id = $1 AND d.state <> 'won' AND (d.provider, d.dispute_id) <> ($2, $3))`;

/**
 * The exact reversal of the chargeback, linked to it. If the account was deleted, a balance would be nobody's: then the
 * payment goes to suspense instead, and the chargeback stays.
 */
async function winDispute(
  client: pg.ClientBase,
  dispute: Dispute,
  stored: StoredDispute & Context,
): Promise<bigint | null> {
  const { provider, disputeId, topupId, accountId } = dispute;
  const { accounts, credits, paidMinor, houseCurrency } = stored;
  await returnTaken(client, dispute, { houseCurrency });
  const account = accounts.get(accountId) as LockedAccount;
  const isNobodys = account.main + credits > 0n && (await isDeleted(client, accountId));
  const isPosted = (credits > 0n || paidMinor > 0n) && !isNobodys;
  const transactionId = isPosted ? await postWon(client, dispute, { ...stored, account }) : null;
  if (isNobodys) await suspendWon(client, dispute, stored);
  const reversal = `won:${provider}:${disputeId}`;
  await returnReward(client, accounts, { reversal, undo: `dispute:${provider}:${disputeId}` });
  for (const refundId of await failedRefundsOf(client, dispute))
    await returnReward(client, accounts, {
      reversal: `${reversal}:${refundId}`,
      undo: reversalByRefund(dispute, refundId),
    });
  await settleDebt(client, account);
  await client.query(ORDER_AGAIN, [topupId, provider, disputeId]);
  return transactionId;
}

async function postWon(
  client: pg.ClientBase,
  { provider, disputeId, happenedAt = null }: Dispute,
  { account, credits, paidMinor, transactionId: linkedId }: StoredDispute & { account: LockedAccount },
): Promise<bigint> {
  const parts = await readLotParts(client, { provider, disputeId, linkedId });
  const unusedMinor = paymentOf(parts);
  const transactionId = await post(client, {
    kind: 'chargeback-won',
    reference: `dispute-won:${provider}:${disputeId}`,
    accountId: account.accountId,
    linkedId,
    effectiveAt: happenedAt,
    movements: [
      { code: 'issued:credit', commodity: 'CRD', amount: -credits },
      { account, purpose: 'main', amount: credits },
      { code: `psp:${provider}`, commodity: 'PAY', amount: -paidMinor },
      { code: 'deferred-revenue', commodity: 'PAY', amount: unusedMinor },
      { code: 'expense:chargeback-loss', commodity: 'PAY', amount: paidMinor - unusedMinor },
    ],
  });
  for (const part of parts) await insertLotChange(client, { ...part, transactionId, kind: 'chargeback-won' });
  return transactionId;
}

async function suspendWon(
  client: pg.ClientBase,
  { provider, disputeId, topupId, happenedAt = null }: Dispute,
  { paidMinor, houseCurrency }: StoredDispute & Context,
): Promise<void> {
  if (paidMinor === 0n) return;
  const money = { amountMinor: paidMinor, currency: houseCurrency, happenedAt };
  const about = { provider, reference: disputeId, orderId: await orderOf(client, topupId) };
  await bookSuspense(client, { ...money, ...about, why: 'dispute_after_deletion' }, houseCurrency);
}

/** The order of a payment, so that its payer does not settle what is in suspense. */
async function orderOf(client: pg.ClientBase, topupId: string): Promise<string | null> {
  const { rows } = await client.query<{ orderId: string | null }>(
    'SELECT order_id AS "orderId" FROM topups WHERE id = $1',
    [topupId],
  );
  return rows[0]?.orderId ?? null;
}

/** What the dispute took from lots, to be restored: by its chargeback, and of refunds that failed later. */
async function readLotParts(
  client: pg.ClientBase,
  { provider, disputeId, linkedId }: Pick<Dispute, 'provider' | 'disputeId'> & { linkedId: bigint | null },
): Promise<LotPart[]> {
  const { rows } = await client.query<LotPart>(
    `SELECT lot_id AS "lotId", sum(credits)::bigint AS credits, sum(paid_minor)::bigint AS "paidMinor" FROM (
       SELECT lot_id, -credits AS credits, -paid_minor AS paid_minor FROM credit_lot_changes
       WHERE transaction_id = $3 AND kind = 'chargeback'
       UNION ALL SELECT l.id, x.credits, x.paid_minor FROM dispute_refunds x JOIN topup_refunds r ON r.id = x.refund_id
       JOIN credit_lots l ON l.topup_id = r.topup_id WHERE x.provider = $1 AND x.dispute_id = $2) AS taken
     GROUP BY lot_id ORDER BY lot_id`,
    [provider, disputeId, linkedId],
  );
  return rows;
}

async function failedRefundsOf(
  client: pg.ClientBase,
  { provider, disputeId }: Pick<Dispute, 'provider' | 'disputeId'>,
): Promise<string[]> {
  const { rows } = await client.query<{ refundId: string }>(
    'SELECT refund_id AS "refundId" FROM dispute_refunds WHERE provider = $1 AND dispute_id = $2 ORDER BY refund_id',
    [provider, disputeId],
  );
  return rows.map(({ refundId }) => refundId);
}
