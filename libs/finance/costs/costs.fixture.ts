import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { markHorizon } from '#ledger/postings/horizon.js';
import type { ResolveCommand } from '#ledger/charges/charge.js';
import { recordLateDelivery } from '#ledger/charges/late-delivery.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { quote } from '#pricing/quote.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { type Accrual, type AccrualOptions, accrueCosts } from './accrual.js';

/** Less than a test may take. */
const PATIENCE_MS = 25_000;

/** Waits until everything charged is final: other specs on the server can hold back the horizon for seconds. */
export async function accrueAll(pool: pg.Pool, options?: AccrualOptions): Promise<Accrual> {
  await markHorizon(pool, PATIENCE_MS);
  return accrueCosts(pool, options);
}

export interface Work {
  model: string;
  group?: string;
  units?: bigint;
  tokens?: TokenCounts;
  /** The delivered units. Default: all. */
  delivered?: bigint;
  deliveredTokens?: TokenCounts;
  failed?: boolean;
  channel?: string | null;
  taskId?: string;
}

type End = Pick<Work, 'delivered' | 'deliveredTokens' | 'failed' | 'channel'>;

/** Customers that ask for work, on a real database with the real engine. */
export class CostsFixture {
  private constructor(
    readonly ledger: LedgerFixture,
    private readonly engine: PostingEngine,
  ) {}

  static async create(): Promise<CostsFixture> {
    const ledger = await createLedgerFixture();
    const { billing: pool, log } = ledger;
    return new CostsFixture(
      ledger,
      new PostingEngine({ pool, loadPriceBook, log, registry: new Registry() }),
    );
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.ledger.close();
  }

  /** Asks for work and ends it. @returns the charge's id */
  async charge(customer: { accountId: string; keyId: string }, work: Work): Promise<string> {
    const { accountId, keyId } = customer;
    const { model, group = 'Vendora-Main', tokens, taskId = null, channel = 'sandbox' } = work;
    const chargeId = newId();
    const book = await loadPriceBook(this.ledger.billing);
    const asked = { model, group, units: work.units ?? 1n, ...(tokens ? { tokens } : {}) };
    const priced = quote(book, { ...asked, atMs: Date.now() });
    if (typeof priced === 'string') throw new Error(priced);
    const held = await this.engine.hold({
      chargeId,
      accountId,
      keyId,
      ...asked,
      requestedModel: model,
      quotedAmount: priced.amount,
      taskId,
      expiresAtMs: Date.now() + 60_000,
      deadlineMs: Date.now() + 60_000,
      requestId: newId(),
    });
    if (held.outcome !== 'held') throw new Error(held.message);
    await this.end(customer, chargeId, { ...work, channel });
    return chargeId;
  }

  /** Work is delivered, at once or after its charge was released. */
  async end({ accountId }: { accountId: string }, chargeId: string, work: End): Promise<void> {
    const command: ResolveCommand = {
      chargeId,
      accountId,
      outcome: work.failed ? 'failed' : 'delivered',
      channel: work.channel ?? null,
      deliveredUnits: work.delivered ?? null,
      deliveredTokens: work.deliveredTokens ?? null,
      reason: null,
      upstreamStatus: 200,
      latencyMs: 5,
    };
    const { late } = await this.engine.resolve(command);
    if (late) await recordLateDelivery(this.ledger.billing, command, late);
  }

  /** A failed task, with or without a note that it is billed. Its charge has to be created under its ID. */
  async failedTask(
    { accountId, keyId }: { accountId: string; keyId: string },
    chargeId: string,
    unbilled: string | null,
  ): Promise<void> {
    await this.ledger.owner.query(
      `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
         channel_id, ended_at, deadline, unbilled_cost)
       VALUES ($1, 'video', $2, $3, $4, 'openai', 'failed', 'vidmodel-3', 'vidmodel-3', '{}', 5, 'sandbox', now(), now(), $5)`,
      [newId(), accountId, keyId, chargeId, unbilled],
    );
  }

  /** Balances of the ledger by code, without those that are 0; nanos or minor units. */
  async balances(pattern: string): Promise<Record<string, bigint>> {
    const { rows } = await this.ledger.owner.query<{ code: string; sum: string }>(
      `SELECT a.code, sum(e.amount)::text AS sum FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
       WHERE a.code LIKE $1 GROUP BY 1 HAVING sum(e.amount) <> 0 ORDER BY 1`,
      [pattern],
    );
    return Object.fromEntries(rows.map(({ code, sum }) => [code, BigInt(sum)]));
  }
}
