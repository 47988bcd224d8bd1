import type pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { inTransaction, isTransient } from '#database/database.js';
import { catchUp } from '#finance/periods/catch-up.js';
import { closePeriod } from '#finance/periods/period-close.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { exportLedger } from '#ledger/export/export.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { setFreeze } from '#ledger/postings/freeze.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { creditTopup } from '#ledger/postings/topup.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import type { Account } from '../support/books.js';
import type { Dice } from '../support/month/dice.js';
import { waiveAll } from '../support/waivers.js';
import { REPRICED } from './calls.js';
import type { Site } from './site.js';

/** How long to repeat a transaction while the database is down. */
const PATIENCE_MS = 600_000;
const PAUSE_MS = 100;
const HOUSE = 'USD';
const SILENT = { info: () => undefined };

/** A customer, with the person and the ticket that staff work with. */
export interface Patron extends Account {
  userId: string;
  ticketId: string;
}

/** Outcomes of the actions of one kind. */
export interface Deeds {
  done: number;
  /** Refused by a rule, for example when there is nothing to refund. */
  refused: number;
}

/**
 * Random actions by staff, banks and customers beside the calls. Each has its own IDs and is repeated until its outcome
 * is known.
 */
export class Business {
  readonly deeds = new Map<string, Deeds>();
  private readonly openDisputes: {
    disputeId: string;
    topupId: string;
    accountId: string;
    amountMinor: bigint;
  }[] = [];
  private readonly kinds: Record<string, () => Promise<unknown>> = {
    'top-up': () => this.topUp(),
    'price change': () => this.reprice(),
    'refund of a charge': () => this.refundCharge(),
    'refund of a top-up': () => this.refundTopup(),
    dispute: () => this.dispute(),
    'end of a dispute': () => this.endDispute(),
    adjustment: () => this.adjust(),
    'freeze and its end': () => this.freeze(),
    export: () => this.export(),
    close: () => this.close(),
  };

  constructor(
    private readonly site: Site,
    private readonly dice: Dice,
    private readonly patrons: readonly Patron[],
  ) {}

  /** One random action. */
  async next(): Promise<void> {
    const kind = this.dice.one(Object.keys(this.kinds));
    const deeds = this.deeds.get(kind) ?? { done: 0, refused: 0 };
    this.deeds.set(kind, deeds);
    const outcome = await this.kinds[kind]!();
    if (outcome === null) deeds.refused += 1;
    else deeds.done += 1;
  }

  private topUp(): Promise<unknown> {
    const { accountId } = this.dice.one(this.patrons);
    const bought = priceCredits(parseAmount(String(this.dice.between(1, 20))), STANDARD_RATE);
    const payment = { provider: 'manual' as const, paymentId: newId(), currency: HOUSE, rate: STANDARD_RATE };
    return this.transaction((client) => creditTopup(client, { accountId, ...payment, ...bought }));
  }

  private reprice(): Promise<unknown> {
    const { model, prices } = this.dice.one(REPRICED);
    const price = this.dice.one<string>(prices);
    return this.transaction((client) =>
      client.query('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, $2)', [model, price]),
    );
  }

  private refundCharge(): Promise<unknown> {
    const { accountId, userId: requestedBy, ticketId } = this.dice.one(this.patrons);
    const [requestId, draw] = [newId(), this.dice.between(0, 1e9)];
    return this.transaction(async (client) => {
      const settled = `SELECT id, settled FROM charges WHERE state = 'settled' AND settled > 1 AND account_id = '${accountId}'`;
      const charge = await pick<{ id: string; settled: bigint }>(client, settled, draw);
      if (!charge) return null;
      const asked = { chargeId: charge.id, amount: nanos(BigInt(charge.settled) / 2n), reason: 'blurred' };
      return refundCharge(client, { ...asked, ticketId, requestedBy, approvedBy: null, requestId });
    });
  }

  private refundTopup(): Promise<unknown> {
    const requestId = newId();
    const draw = this.dice.between(0, 1e9);
    const outcome = this.dice.percent(75) ? 'succeeded' : 'failed';
    return this.transaction(async (client) => {
      const topup = await pick<{ id: string }>(client, 'SELECT id FROM topups', draw);
      if (!topup) return null;
      const asked = {
        topupId: topup.id,
        credits: parseAmount('0.5'),
        reason: 'asked for',
        actor: 'user:finance',
      };
      const { id: refundId } = await beginTopupRefund(client, { ...asked, requestId });
      return endTopupRefund(client, { refundId, providerRefundId: refundId, outcome });
    });
  }

  private async dispute(): Promise<unknown> {
    const disputeId = newId();
    const draw = this.dice.between(0, 1e9);
    const opened = await this.transaction(async (client) => {
      const topup = await pick<{ topupId: string; accountId: string; amountMinor: bigint }>(
        client,
        `SELECT id AS "topupId", account_id AS "accountId", paid_minor AS "amountMinor" FROM topups t
         WHERE paid_minor < 5000 AND NOT EXISTS (SELECT FROM disputes d WHERE d.topup_id = t.id)`,
        draw,
        '"topupId"',
      );
      if (!topup) return null;
      const dispute = { ...topup, amountMinor: BigInt(topup.amountMinor), disputeId };
      await applyDispute(client, { provider: 'manual', state: 'open', ...dispute }, HOUSE);
      return dispute;
    });
    if (opened) this.openDisputes.push(opened);
    return opened;
  }

  private async endDispute(): Promise<unknown> {
    const dispute = this.openDisputes.shift();
    if (!dispute) return null;
    const state = this.dice.percent(60) ? 'won' : 'lost';
    return this.transaction((client) =>
      applyDispute(client, { provider: 'manual', state, ...dispute }, HOUSE),
    );
  }

  private adjust(): Promise<unknown> {
    const { accountId, ticketId, userId } = this.dice.one(this.patrons);
    const amount = this.dice.percent(70) ? 1_000_000_007n : -300_000_003n;
    const about = { accountId, ticketId, amount, reason: 'correction' as const, note: 'Counted wrong.' };
    const by = { requestedBy: `user:${userId}`, approvedBy: null, requestId: newId() };
    return this.transaction((client) => adjust(client, { ...about, ...by }));
  }

  private async freeze(): Promise<unknown> {
    const { accountId } = this.dice.one(this.patrons);
    await this.transaction((client) => setFreeze(client, accountId, 'looked at'));
    await pause(200);
    return this.transaction((client) => setFreeze(client, accountId, null));
  }

  private export(): Promise<unknown> {
    const format = this.dice.one(['csv', 'jsonl', 'hledger', 'beancount'] as const);
    const summary = this.dice.percent(50) && format !== 'csv';
    return this.repeated(async (pool) => {
      const query = { format, ledgerAccountId: null, summary, currency: HOUSE, from: null, to: null };
      let length = 0;
      for await (const piece of exportLedger(pool, query)) length += piece.length;
      return length;
    });
  }

  /** Waives everything that the checklist allows, because work in progress is not the point here. */
  private close(): Promise<unknown> {
    const end = new Date(Date.now() - 1_000);
    const requestId = newId();
    return this.repeated(async (pool) => {
      await waiveAll(pool, end);
      const limits = { marginMs: 0, waitMs: 20_000, limitMs: 60_000 };
      const request = { end, note: null, actor: 'user:finance', requestId };
      const period = await closePeriod(pool, request, {
        ...limits,
        catchUp: () => catchUp(pool, { log: SILENT }),
      });
      return period.state === 'closed' ? period : null;
    });
  }

  private transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T | null> {
    return this.repeated((pool) => inTransaction(pool, work));
  }

  /** @returns null if a rule refused it */
  private async repeated<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T | null> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const { pool } = this.site.books;
      try {
        return await work(pool);
      } catch (error) {
        if (isRefusal(error)) return null;
        const isGone = isTransient(error) || pool !== this.site.books.pool || isEnded(error);
        if (!isGone || performance.now() > deadline) throw error;
        await pause(PAUSE_MS);
      }
    }
  }
}

/** One of our own rules refused. Anything else is a fault. */
function isRefusal(error: unknown): boolean {
  const names = ['ApiError', 'CorrectionRefused', 'ChargeRefundRefused', 'CloseRefused'];
  return error instanceof Error && (names.includes(error.name) || error.constructor.name === 'ApiError');
}

/** The pool belonged to a relay that is restarting. */
function isEnded(error: unknown): boolean {
  return error instanceof Error && /Cannot use a pool after calling end/.test(error.message);
}

/** A random row. */
async function pick<T extends pg.QueryResultRow>(
  client: pg.ClientBase,
  sql: string,
  draw: number,
  id = 'id',
): Promise<T | null> {
  const { rows } = await client.query<T>(
    `SELECT * FROM (${sql}) AS found ORDER BY md5(found.${id} || $1) LIMIT 1`,
    [String(draw)],
  );
  return rows[0] ?? null;
}
