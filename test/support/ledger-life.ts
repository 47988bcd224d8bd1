import { expect } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { adjust, reverseAdjustment } from '#ledger/postings/adjustment.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { accrueAll } from '#finance/costs/costs.fixture.js';
import { setCost } from '#finance/costs/cost-versions.js';
import { recordBill } from '#finance/costs/upstream-bills.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { recogniseAll } from '#ledger/lots/recognition.js';
import {
  bookSuspense,
  bookSuspenseExpensed,
  bookSuspenseReturned,
  type SuspenseItem,
} from '#ledger/postings/suspense.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { nanos, parseAmount } from '#money/amount.js';
import { reverseWriteOff, writeOff } from '#ledger/postings/write-off.js';
import { bankMapping } from '#finance/provider-reports/bank/bank-csv.js';
import { matchBankLines, undoBankMatch } from '#finance/provider-reports/bank/bank-match.js';
import { importBankCsv, saveBankAccount } from '#finance/provider-reports/bank/bank.import.js';
import { acceptLine } from '#finance/provider-reports/line-acceptance.js';
import { postReportLines } from '#finance/provider-reports/line-postings.js';
import { beginReport, insertLines } from '#finance/provider-reports/report.import.js';
import type { ReportLine } from '#finance/provider-reports/report-line.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import type { LedgerFixture } from './ledger.js';
import { ticketOf } from './tickets.js';
import { recordTopup } from './topups.js';

/** Every kind of posting, for customers with money of their own and one with an odd nano. */
export class LedgerLife {
  private readonly engine: PostingEngine;
  private charges = 0;
  private debts = 0;

  constructor(private readonly fixture: LedgerFixture) {
    this.engine = new PostingEngine({ pool: fixture.billing, loadPriceBook, log: fixture.log });
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  /** @returns the accounts that took part */
  async everything(): Promise<{ inviter: string; invitee: string }> {
    const { fixture } = this;
    const inviter = await fixture.account({ credits: '10.000000001' });
    const invitee = await fixture.account({ credits: '0' });
    await fixture.billing.query(
      'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
      [invitee.accountId, inviter.accountId],
    );
    const kept = await this.topup(invitee.accountId, '20.123456789');
    const lost = await this.topup(invitee.accountId, '3');
    await this.charge(inviter, { units: 3n, delivered: 3n });
    await this.charge(inviter, { units: 4n, delivered: 1n });
    await this.charge(inviter, { units: 2n, delivered: 0n });
    await this.charge(invitee, { units: 5n, delivered: null });
    await this.refundOfCharge(inviter.accountId, await this.charge(inviter, { units: 2n, delivered: 2n }));
    await this.transaction((client) =>
      transferInvite(client, {
        accountId: inviter.accountId,
        requestId: newId(),
        amount: parseAmount('1.000000007'),
        windowMs: 0,
      }),
    );
    await this.refundOfTopup(kept, '2', 'succeeded');
    await this.refundOfTopup(kept, '1', 'failed');
    await this.refundOfTopup(kept, '0.5', null);
    await this.dispute(lost, invitee.accountId, 'lost');
    await this.dispute(kept, invitee.accountId, 'won');
    await this.suspense();
    await this.reports();
    await this.adjustments();
    await recogniseAll(fixture.billing);
    await this.upstreamCosts(inviter);
    return { inviter: inviter.accountId, invitee: invitee.accountId };
  }

  async topup(accountId: string, credits: string): Promise<string> {
    const bought = priceCredits(parseAmount(credits), '1.3');
    const payment = { provider: 'stripe' as const, paymentId: `pi; "${newId()}" \\ | ,`, currency: 'USD' };
    const result = await recordTopup(this.fixture.billing, {
      accountId,
      ...payment,
      ...bought,
      rate: '1.3',
    });
    return result.topupId;
  }

  /** If `delivered` is null, the charge stays held. @returns the charge's id */
  async charge(
    customer: { accountId: string; keyId: string },
    work: { units: bigint; delivered: bigint | null; channel?: string },
  ): Promise<string> {
    const { accountId, keyId } = customer;
    const chargeId = `life${(this.charges += 1)}x${newId()}`;
    const held = await this.engine.hold({
      chargeId,
      accountId,
      keyId,
      model: 'imgmodel-4',
      requestedModel: 'imgmodel-4',
      group: 'Vendora-Main',
      units: work.units,
      quotedAmount: nanos(work.units * 30_000_000n),
      expiresAtMs: Date.parse('2100-01-01'),
      deadlineMs: null,
      taskId: null,
      requestId: newId(),
      clientIp: null,
    });
    expect(held).toMatchObject({ outcome: 'held' });
    if (work.delivered === null) return chargeId;
    await this.engine.resolve({
      chargeId,
      accountId,
      outcome: work.delivered > 0n ? 'delivered' : 'failed',
      deliveredUnits: work.delivered,
      channel: work.channel ?? null,
      reason: null,
      upstreamStatus: 200,
      latencyMs: 5,
    });
    return chargeId;
  }

  private async refundOfCharge(accountId: string, chargeId: string): Promise<void> {
    const { ticketId, userId } = await ticketOf(this.fixture, accountId);
    const ticket = { ticketId, requestedBy: userId, approvedBy: null, requestId: newId() };
    await this.transaction((client) =>
      refundCharge(client, { chargeId, amount: parseAmount('0.010000003'), reason: 'blurred', ...ticket }),
    );
  }

  private async refundOfTopup(
    topupId: string,
    credits: string,
    outcome: 'succeeded' | 'failed' | null,
  ): Promise<void> {
    const asked = { reason: 'asked for', actor: 'user:test', requestId: newId() };
    const refund = await this.transaction((client) =>
      beginTopupRefund(client, { topupId, credits: parseAmount(credits), ...asked }),
    );
    if (outcome === null) return;
    await this.transaction((client) =>
      endTopupRefund(client, { refundId: refund.id, providerRefundId: newId(), outcome }),
    );
  }

  private async dispute(topupId: string, accountId: string, end: 'lost' | 'won'): Promise<void> {
    const { rows } = await this.fixture.billing.query<{ paid: bigint }>(
      'SELECT paid_minor AS paid FROM topups WHERE id = $1',
      [topupId],
    );
    const disputed = { provider: 'stripe' as const, disputeId: newId(), topupId, accountId };
    for (const state of ['open', end] as const) {
      await this.transaction((client) =>
        applyDispute(client, { ...disputed, amountMinor: (rows[0]?.paid ?? 0n) / 2n, state }, 'USD'),
      );
    }
  }

  /** Credits added, removed, and added by mistake. Debts that are partly written off, once by mistake. */
  private async adjustments(): Promise<void> {
    const { accountId } = await this.fixture.account({ credits: '0' });
    const { ticketId, userId } = await ticketOf(this.fixture, accountId);
    const by = { requestedBy: `user:${userId}`, approvedBy: null };
    await recordLimit(this.fixture.billing, 'adjustment', parseAmount('100'));
    const change = (amount: bigint) =>
      this.transaction((client) =>
        adjust(client, {
          accountId,
          ticketId,
          amount,
          reason: 'goodwill',
          note: 'a life',
          requestId: newId(),
          ...by,
        }),
      );
    const topupId = await this.topup(accountId, '3');
    await change(-parseAmount('2.000000003'));
    const { id: adjustmentId } = await change(parseAmount('0.500000001'));
    await this.transaction((client) =>
      reverseAdjustment(client, { adjustmentId, note: 'a mistake', requestId: newId(), ...by }),
    );
    const dispute = { provider: 'stripe', disputeId: newId(), topupId, accountId, state: 'lost' } as const;
    await this.transaction((client) => applyDispute(client, { ...dispute, amountMinor: 390n }, 'USD'));
    const amount = parseAmount('1.000000003');
    const { id: writeOffId } = await this.transaction((client) =>
      writeOff(client, { accountId, ticketId, amount, note: 'gone', requestId: newId(), ...by }),
    );
    if ((this.debts += 1) % 2 === 0) return;
    await this.transaction((client) =>
      reverseWriteOff(client, { writeOffId, note: 'they answered', requestId: newId(), ...by }),
    );
  }

  /** Payments without an order, in the house's currency and in another. One of them is returned. */
  private async suspense(): Promise<void> {
    for (const currency of ['USD', 'EUR']) {
      const item = {
        provider: 'stripe' as const,
        reference: newId(),
        orderId: null,
        amountMinor: 777n,
        currency,
        why: 'no_order' as const,
      };
      const { itemId } = await this.transaction((client) => bookSuspense(client, item, 'USD'));
      if (currency === 'EUR') continue;
      const { rows } = await this.fixture.billing.query<{ id: bigint }>(
        'SELECT transaction_id AS id FROM suspense_items WHERE id = $1',
        [itemId],
      );
      const transactionId = rows[0]?.id ?? 0n;
      await this.transaction((client) =>
        bookSuspenseReturned(client, { ...item, id: itemId, transactionId }, 'USD'),
      );
    }
  }

  /** Reports every line again with a higher fee and amount, which is accepted. */
  private async reportHigherAmounts(lines: readonly ReportLine[]): Promise<void> {
    const header = {
      provider: 'stripe',
      source: 'api',
      content: 'all',
      sha256: null,
      actor: 'system',
    } as const;
    const changed = lines.map((line) => ({ ...line, amountMinor: line.amountMinor * 2n, feeMinor: 9n }));
    await this.transaction(async (client) => {
      await insertLines(client, { reportId: await beginReport(client, header), provider: 'stripe' }, changed);
      for (const { lineId } of changed)
        await acceptLine(client, {
          provider: 'stripe',
          lineId,
          through: null,
          reason: 'as reported',
          auditId: null,
          house: 'USD',
          requestedBy: 'user:1',
          approvedBy: 'user:2',
          requestId: newId(),
        });
    });
  }

  /**
   * A provider's fees and payouts in two currencies, one of which came back; a cost; a transfer that appears in the
   * bank statement.
   */
  private async reports(): Promise<void> {
    const { billing } = this.fixture;
    const lines = (['USD', 'EUR'] as const).flatMap((currency): ReportLine[] => {
      const line = {
        currency,
        happenedAt: new Date().toISOString(),
        availableOn: null,
        paymentId: null,
        payoutId: null,
      };
      const moved = (type: ReportLine['type'], amountMinor: bigint, subjectId = newId()): ReportLine => ({
        ...line,
        type,
        amountMinor,
        subjectId,
        lineId: newId(),
        feeMinor: 7n,
        description: '',
      });
      const payout = newId();
      return [
        moved('payout', -500n, payout),
        moved('payout_failure', 500n, payout),
        moved('adjustment', -3n),
      ];
    });
    await this.transaction(async (client) => {
      const header = {
        provider: 'stripe',
        source: 'api',
        content: 'all',
        sha256: null,
        actor: 'system',
      } as const;
      const reportId = await beginReport(client, header);
      await insertLines(client, { reportId, provider: 'stripe' }, lines);
    });
    const { unexplained } = await postReportLines(billing, { currency: 'USD' });
    await this.expense(unexplained[0]!.itemId);
    await this.reportHigherAmounts(lines);
    const amount = { column: 'a' };
    const mapping = bankMapping.parse({
      date: { column: 'd' },
      amount,
      currency: { fixed: 'USD' },
      reference: ['r'],
    });
    await this.transaction((client) =>
      saveBankAccount(client, { id: 'main', mapping }, { actor: 'system', requestId: null }),
    );
    const { rows } = await billing.query<{ paymentId: string; paid: string }>(
      `SELECT payment_id AS "paymentId", (paid_minor / 100.0)::text AS paid FROM topups WHERE provider = 'manual' ORDER BY id DESC LIMIT 2`,
    );
    const day = new Date().toISOString().slice(0, 10);
    const file = [
      'd,a,r',
      ...rows.map(({ paymentId, paid }) => `${day},${Number(paid).toFixed(2)},${paymentId}`),
    ];
    const source = async function* () {
      yield file.join('\n');
    };
    await importBankCsv(
      billing,
      { accountId: 'main', source },
      { actor: 'system', dryRun: false, days: { from: day, to: '2999-01-01' } },
    );
    await matchBankLines(billing, 'USD');
    const line = await billing.query<{ id: bigint }>(
      'SELECT max(bank_line_id) AS id FROM bank_matches WHERE undone_at IS NULL',
    );
    await this.transaction((client) => undoBankMatch(client, line.rows[0]!.id, 'system'));
  }

  private async expense(itemId: string): Promise<void> {
    await this.transaction(async (client) => {
      const { rows } = await client.query<SuspenseItem & { id: string; transactionId: bigint }>(
        `SELECT id, provider, reference, order_id AS "orderId", amount_minor AS "amountMinor", currency, why,
           transaction_id AS "transactionId" FROM suspense_items WHERE id = $1`,
        [itemId],
      );
      const cleared = await bookSuspenseExpensed(client, rows[0]!, 'USD');
      await client.query(
        `UPDATE suspense_items SET state = 'expensed', cleared_transaction_id = $2, cleared_by = 'system', cleared_at = now()
         WHERE id = $1`,
        [itemId, cleared],
      );
    });
  }

  /** Work with an upstream cost, even when it fails, and the bill for it. */
  private async upstreamCosts(customer: { accountId: string; keyId: string }): Promise<void> {
    const { billing } = this.fixture;
    const by = { reason: 'the price list', actor: 'system', requestId: newId() };
    await setCost(billing, {
      channel: 'sandbox',
      model: 'imgmodel-4',
      billsFailures: true,
      effectiveFrom: null,
      ...by,
      cost: { unitCost: '0.012345678' },
    });
    for (const delivered of [2n, 0n]) {
      await this.charge(customer, { units: 2n, delivered, channel: 'sandbox' });
    }
    await accrueAll(billing);
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    await recordBill(billing, {
      channel: 'sandbox',
      number: newId(),
      from: day(-2),
      to: day(0),
      amount: 1_500_000_001n,
      actor: by.actor,
      requestId: newId(),
    });
  }

  private transaction<T>(work: Parameters<typeof inTransaction<T>>[1]): Promise<T> {
    return inTransaction(this.fixture.billing, work);
  }
}
