import { createCustomer } from '#people/accounts/customers.js';
import { configureSandboxChannel, seedCatalog, seedSandboxCosts } from '#catalog/catalog.seed.js';
import { bankMapping } from '#finance/provider-reports/bank/bank-csv.js';
import { importBankCsv, saveBankAccount } from '#finance/provider-reports/bank/bank.import.js';
import { matchBankLines } from '#finance/provider-reports/bank/bank-match.js';
import { postReportLines } from '#finance/provider-reports/line-postings.js';
import { importStripeCsv } from '#finance/provider-reports/report.import.js';
import { VENDORA_MAIN } from '#groups/group.js';
import { adjust, reverseAdjustment } from '#ledger/postings/adjustment.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { beginTopupRefund } from '#ledger/postings/topup-refund.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { writeOff } from '#ledger/postings/write-off.js';
import { nanos, parseAmount } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { person, type Person } from '../console.js';
import { until } from '../eventually.js';
import type { LedgerFixture } from '../ledger.js';
import { StripeStandIn } from '../stripe.js';
import { recordTopup } from '../topups.js';
import { BillingOfTheDay } from './billing-of-the-day.js';
import type { ClockedServer } from './clocked-server.js';
import { type Customer, newCustomer, openTicket, signUp } from './customers.js';
import { Dice } from './dice.js';
import { MonthDatabase } from './month-database.js';
import { activityCsv, BANK_MAPPING, bankCsv, payoutsCsv } from './reports.js';
import { Provider, type ProviderPayment } from './provider.js';
import { Work } from './work.js';

export interface MonthOptions {
  seed: number;
  customers: number;
  /** Days of October 2026, at most 31. */
  days: number;
  requestsPerDay: number;
}

/**
 * The period that the reports cover: longer than the month, because a report misses whatever happens after it was made.
 */
const REPORTED = { from: '2026-09-01', to: '2026-11-15' };

export interface BankTransfer {
  reference: string;
  amountMinor: bigint;
  at: Date;
}

interface SuspenseItem {
  id: string;
  currency: string;
  reference: string;
  /** A bank took the payment back. */
  isDisputed: boolean;
}

/**
 * A random month of a relay: customers sign up and pay, use, get refunds, dispute and win or lose. Events arrive late
 * and twice, the database is killed, and its clock jumps. This class keeps track of what happens outside the books.
 */
export class Month {
  readonly customers: Customer[] = [];
  readonly transfers: BankTransfer[] = [];
  readonly dice: Dice;
  readonly provider: Provider;
  readonly database: MonthDatabase;
  readonly work: Work;
  private readonly topups: { topupId: string; payment: ProviderPayment }[] = [];
  private readonly disputes: { disputeId: string; payment: ProviderPayment }[] = [];
  private billing: BillingOfTheDay | undefined;

  private constructor(
    readonly server: ClockedServer,
    readonly stripe: StripeStandIn,
    private readonly options: MonthOptions,
  ) {
    this.dice = new Dice(options.seed);
    this.provider = new Provider(stripe, this.dice);
    this.database = new MonthDatabase(server);
    this.work = new Work(this.database, this.dice);
  }

  static async begin(server: ClockedServer, options: MonthOptions): Promise<Month> {
    await server.startAt('2026-09-30 20:00:00');
    await server.migrate();
    const month = new Month(server, await StripeStandIn.start(), options);
    await seedCatalog(month.database.owner);
    await configureSandboxChannel(month.database.owner, { baseUrl: 'http://127.0.0.1:9', apiKey: 'none' });
    await seedSandboxCosts(month.database.owner);
    return month;
  }

  async live(): Promise<void> {
    const { days } = this.options;
    for (let day = 1; day <= days; day += 1) {
      const crashes = day % 9 === 4;
      await this.open(`2026-10-${String(day).padStart(2, '0')} ${this.hourOf(day)}:00:00`);
      await this.day(day, crashes);
      await this.close();
    }
  }

  /** Every seventh day begins before the previous one ended, as if the clock had been set back. */
  private hourOf(day: number): string {
    return day % 7 === 3 ? '00' : '06';
  }

  /** Starts the server with its clock at a time, and billing along with it. */
  async open(time: string, speed?: number): Promise<void> {
    await this.server.startAt(time, speed);
    this.database.connect();
    this.work.restart();
    this.billing = await BillingOfTheDay.start(this.database, this.stripe);
  }

  async close(): Promise<void> {
    await this.billing?.stop();
    this.billing = undefined;
    await this.work.stop();
  }

  async end(): Promise<void> {
    await this.close();
    await this.server.stop();
    await this.stripe.close();
  }

  private async day(day: number, crashes: boolean): Promise<void> {
    const { customers, days, requestsPerDay } = this.options;
    await this.welcome(Math.ceil(customers / days));
    await this.payToday();
    await this.running.deliver(this.provider.arriving(false));
    const crash = crashes ? () => this.server.crash() : null;
    const working = this.work.day(this.customers, requestsPerDay, crash);
    await this.reverseToday();
    await working;
    await this.reverseWork();
    await this.correctToday();
    this.provider.noteRefunds(await this.database.now());
    await this.running.deliver(this.provider.arriving(false));
    if (day % 7 === 0) this.provider.payOut(await this.database.now());
  }

  /** Everything in transit arrives, open work ends, and people decide whose the money in suspense is. */
  async settleEverything(): Promise<void> {
    await this.work.finish();
    await this.refundsEnd();
    await this.running.deliver(this.provider.arriving(true));
    await this.clearSuspense();
    this.provider.payOut(await this.database.now());
  }

  /** Finance imports the provider's and the bank's reports, and posts what appears only there. */
  async importReports(): Promise<void> {
    const { billing } = this.database;
    const { lines } = this.provider;
    const options = {
      actor: 'user:finance',
      dryRun: false,
      days: REPORTED,
    };
    for (const csv of [activityCsv(lines), payoutsCsv(lines)]) {
      await importStripeCsv(billing, () => textSource(csv), options);
    }
    const account = { id: 'house', mapping: bankMapping.parse(BANK_MAPPING) };
    await this.database.transaction((client) =>
      saveBankAccount(client, account, { actor: 'user:finance', requestId: null }),
    );
    const bank = bankCsv(lines, this.transfers);
    await importBankCsv(billing, { accountId: 'house', source: () => textSource(bank) }, options);
    await postReportLines(billing, { currency: 'USD' });
    await matchBankLines(billing, 'USD');
  }

  /** Asks the provider for refunds directly. Each one ends before its event is drawn. */
  private async refundsEnd(): Promise<void> {
    const pending = `SELECT FROM topup_refunds WHERE state = 'pending' AND provider_refund_id IS NULL LIMIT 1`;
    await until('refunds to be asked for', async () => {
      this.provider.noteRefunds(await this.database.now());
      return (await this.database.owner.query(pending)).rowCount === 0;
    });
    this.provider.noteRefunds(await this.database.now());
  }

  private async clearSuspense(): Promise<void> {
    const [finance, second] = [await this.financePerson(), await this.financePerson()];
    const { rows } = await this.database.owner.query<SuspenseItem>(
      `SELECT id, currency, reference, EXISTS (SELECT FROM suspense_items d WHERE d.state = 'open'
         AND d.why = 'payment_disputed' AND d.payment_id = i.reference) AS "isDisputed"
       FROM suspense_items i WHERE state = 'open' AND why <> 'payment_disputed' ORDER BY id`,
    );
    for (const { id: itemId, currency, reference, isDisputed } of rows) {
      const params = { path: { itemId } };
      const note = 'Found whose it is.';
      if (currency === 'USD' && !isDisputed) {
        const { accountId: owner } = this.dice.one(this.customers);
        const body = { accountId: owner, note, requestId: itemId };
        const { error } = await finance.api.POST('/api/finance/suspense/{itemId}/credit', { params, body });
        if (error) throw new Error(JSON.stringify(error));
        continue;
      }
      // The bank has the money already: returning the payment sends none, and ends the dispute's item too.
      if (!isDisputed) this.provider.giveBack(reference, await this.database.now());
      const asked = await finance.api.POST('/api/finance/suspense/{itemId}/return', {
        params,
        body: { note },
      });
      if (asked.error) throw new Error(JSON.stringify(asked.error));
      const { approvalId } = asked.data;
      // Small amounts need no second person.
      if (approvalId === null) continue;
      const approval = { params: { path: { approvalId } }, body: {} };
      const { error } = await second.api.POST('/api/approvals/{approvalId}/approve', approval);
      if (error) throw new Error(JSON.stringify(error));
    }
  }

  private async financePerson(): Promise<Person> {
    const fixture = { billing: this.database.billing } as LedgerFixture;
    const { accountId } = await createCustomer(this.database.billing, {
      name: 'Finance',
      group: VENDORA_MAIN,
    });
    return person({ consoleUrl: this.running.address, fixture }, { accountId, roles: ['finance'] });
  }

  private get running(): BillingOfTheDay {
    if (!this.billing) throw new Error('billing does not run');
    return this.billing;
  }

  /** Finance corrects balances by hand, reverses some corrections, and writes off debts. */
  private async correctToday(): Promise<void> {
    const { dice, database } = this;
    await recordLimit(database.billing, 'adjustment', parseAmount('1000'));
    for (let count = dice.between(0, 3); count > 0; count -= 1) {
      const customer = dice.one(this.customers);
      const ticketId = await openTicket(database.owner, customer);
      const people = { requestedBy: 'user:finance', approvedBy: null };
      const amount = dice.percent(60) ? 1_000_000_007n : -500_000_003n;
      const request = {
        accountId: customer.accountId,
        ticketId,
        amount,
        reason: 'correction' as const,
        note: 'Counted wrong.',
      };
      const made = await refusable(() =>
        database.transaction((client) => adjust(client, { ...request, ...people, requestId: ticketId })),
      );
      if (!made || dice.percent(60)) continue;
      const reversal = {
        adjustmentId: made.id,
        note: 'Was right.',
        ...people,
        requestId: `${ticketId}-back`,
      };
      await refusable(() => database.transaction((client) => reverseAdjustment(client, reversal)));
    }
    await this.giveUpDebt();
  }

  /**
   * Writes off the first debt, so that each month has such a case, and some others. At most once a month per account.
   */
  private async giveUpDebt(): Promise<void> {
    const { dice, database } = this;
    const { rows } = await database.owner.query<{ accountId: string }>(
      `SELECT account_id AS "accountId" FROM customer_balances
       WHERE main < 0 AND account_id <> ALL ($1) ORDER BY account_id LIMIT 1`,
      [[...this.givenUp]],
    );
    const debtor = this.customers.find(({ accountId }) => accountId === rows[0]?.accountId);
    if (!debtor || (this.givenUp.size > 0 && !dice.percent(20))) return;
    const ticketId = await openTicket(database.owner, debtor);
    const request = {
      accountId: debtor.accountId,
      ticketId,
      amount: null,
      note: 'Gone.',
      requestedBy: 'user:finance',
      approvedBy: null,
      requestId: ticketId,
    };
    const made = await refusable(() => database.transaction((client) => writeOff(client, request)));
    if (made) this.givenUp.add(debtor.accountId);
  }

  private async welcome(count: number): Promise<void> {
    const { dice } = this;
    const inviterOf = (): Customer | null =>
      this.customers.length > 0 && dice.percent(30) ? dice.one(this.customers) : null;
    const newcomers = Array.from({ length: count }, () => newCustomer(inviterOf()));
    await signUp(this.database.owner, newcomers);
    this.customers.push(...newcomers);
  }

  /**
   * New customers pay, and so do some of the others. A few pay another amount, without an order, or in another
   * currency.
   */
  private async payToday(): Promise<void> {
    const { dice, customers, options } = this;
    const newcomers = customers.slice(-Math.ceil(options.customers / options.days));
    const others = Array.from({ length: Math.ceil(customers.length / 15) }, () => dice.one(customers));
    for (const customer of [...newcomers, ...others]) await this.payOrder(customer);
    const at = await this.database.now();
    if (dice.percent(40)) this.provider.pay({ orderId: null, amountMinor: 1_300, currency: 'usd', at });
    if (dice.percent(20)) this.provider.pay({ orderId: null, amountMinor: 2_000, currency: 'eur', at });
    for (let count = dice.between(0, 3); count > 0; count -= 1) await this.transfer(dice.one(customers));
  }

  private async payOrder({ accountId }: Customer): Promise<void> {
    const { dice } = this;
    const credits = nanos(BigInt(dice.between(100, 4_000)) * 10_000_000n + BigInt(dice.between(0, 1)));
    const bought = priceCredits(credits, '1.3');
    const orderId = newId();
    await this.database.owner.query(
      `INSERT INTO topup_orders (id, account_id, request_id, request, provider, credits, paid_minor, currency, rate,
         provider_reference, expires_at, next_check_at)
       VALUES ($1, $2, $1, '{}', 'stripe', $3, $4, 'USD', 1.3, $1, now() + interval '90 days', now() + interval '90 days')`,
      [orderId, accountId, bought.credits, bought.paidMinor],
    );
    const amountMinor = Number(bought.paidMinor) + (dice.percent(1) ? 1 : 0);
    this.provider.pay({ orderId, amountMinor, currency: 'usd', at: await this.database.now() });
  }

  /** Money that the bank received, credited by hand. */
  private async transfer({ accountId }: Customer): Promise<void> {
    const bought = priceCredits(parseAmount(String(this.dice.between(10, 200))), '1.3');
    const transfer = {
      reference: `transfer-${newId()}`,
      amountMinor: bought.paidMinor,
      at: await this.database.now(),
    };
    this.transfers.push(transfer);
    const { billing } = this.database;
    const request = {
      accountId,
      provider: 'manual' as const,
      paymentId: transfer.reference,
      currency: 'USD',
    };
    await this.database.retried(() => recordTopup(billing, { ...request, ...bought, rate: '1.3' }));
  }

  /** Top-ups are refunded and payments disputed. Older disputes are decided. */
  private async reverseToday(): Promise<void> {
    const { dice } = this;
    const at = await this.database.now();
    for (let count = dice.between(1, 5); count > 0; count -= 1) await this.refundTopup();
    const open = this.disputes.splice(0, dice.between(0, this.disputes.length));
    for (const { disputeId, payment } of open) {
      this.provider.dispute(payment, { disputeId, state: dice.percent(50) ? 'won' : 'lost', at });
    }
    const payments = this.provider.payments.filter(
      ({ orderId, currency, paymentId }) =>
        orderId !== null && currency === 'usd' && !isRefundable(paymentId),
    );
    for (let count = dice.between(0, 3); count > 0; count -= 1) {
      const payment = dice.one(payments);
      if (this.disputed.has(payment.paymentId)) continue;
      this.disputed.add(payment.paymentId);
      const disputeId = `dp_${newId()}`;
      this.provider.dispute(payment, { disputeId, state: 'open', at });
      this.disputes.push({ disputeId, payment });
    }
  }

  private readonly disputed = new Set<string>();
  /** Accounts whose debt was written off. */
  private readonly givenUp = new Set<string>();

  private async refundTopup(): Promise<void> {
    const { dice, database } = this;
    const { rows } = await database.retried(() =>
      database.owner.query<{ id: string }>(
        `SELECT t.id FROM topups t WHERE t.provider = 'stripe' AND right(t.payment_id, 1) < 'g' ORDER BY md5(t.payment_id || $1) LIMIT 1`,
        [String(dice.between(0, 1e9))],
      ),
    );
    if (!rows[0]) return;
    const request = { topupId: rows[0].id, reason: 'asked for', actor: 'user:finance', requestId: newId() };
    const credits = dice.percent(50) ? null : parseAmount('0.5');
    this.stripe.refundStatus = dice.percent(20) ? 'failed' : 'succeeded';
    await refusable(() =>
      database.transaction((client) => beginTopupRefund(client, { ...request, credits })),
    );
  }

  /** Support refunds some of the settled work, and people transfer their rewards. */
  private async reverseWork(): Promise<void> {
    const { dice, database, work } = this;
    for (let count = dice.between(2, 6); count > 0 && work.settled.length > 0; count -= 1) {
      const { chargeId, customer } = dice.one(work.settled);
      const ticketId = await openTicket(database.owner, customer);
      const people = { requestedBy: customer.userId, approvedBy: null, requestId: newId() };
      const refund = { chargeId, amount: parseAmount('0.00012'), reason: 'blurred', ticketId, ...people };
      await refusable(() => database.transaction((client) => refundCharge(client, refund)));
    }
    const { rows } = await database.owner.query<{ accountId: string; invite: bigint }>(
      `SELECT account_id AS "accountId", invite FROM customer_balances WHERE invite > 0 ORDER BY account_id LIMIT 5`,
    );
    for (const { accountId, invite } of rows) {
      const amount = nanos(dice.percent(50) ? invite : (invite + 1n) / 2n);
      const move = { accountId, requestId: newId(), amount, windowMs: 0 };
      await refusable(() => database.transaction((client) => transferInvite(client, move)));
    }
  }
}

/** Banks do not dispute refunded payments, so half of the payments may be refunded and the other half disputed. */
function isRefundable(paymentId: string): boolean {
  return paymentId.slice(-1) < 'g';
}

/** A refusal by the rules is not a fault: a used-up top-up cannot be refunded. */
async function refusable<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError) && !(error as Error).name.endsWith('Refused')) throw error;
    return null;
  }
}

async function* textSource(text: string): AsyncGenerator<string> {
  yield text;
}
