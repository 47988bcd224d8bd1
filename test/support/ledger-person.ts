import { expect } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { beginTopupRefund, type TopupRefund } from '#ledger/postings/topup-refund.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { createLedgerFixture, type LedgerFixture, requireCleanLedger } from './ledger.js';
import { recordTopup } from './topups.js';

/** An image costs 0.03 USD. */
const MODEL = 'imgmodel-4';

export interface LedgerPerson {
  accountId: string;
  keyId: string;
}

/** A ledger with a posting engine. */
export interface EngineFixture {
  ledger: LedgerFixture;
  engine: PostingEngine;
  /** @throws Error if the ledger is not clean */
  close(): Promise<void>;
}

export async function openEngine(): Promise<EngineFixture> {
  const ledger = await createLedgerFixture();
  const engine = new PostingEngine({ pool: ledger.billing, loadPriceBook, log: ledger.log });
  const close = async () => {
    try {
      await requireCleanLedger(ledger);
    } finally {
      await engine.close();
      await ledger.close();
    }
  };
  return { ledger, engine, close };
}

/** Begins a refund of a top-up; null refunds everything unused. */
export function beginRefund(
  { billing }: LedgerFixture,
  topupId: string,
  credits: string | null,
): Promise<TopupRefund> {
  const asked = { topupId, credits: credits === null ? null : parseAmount(credits), reason: 'r' };
  return inTransaction(billing, (client) =>
    beginTopupRefund(client, { ...asked, actor: 'system', requestId: newId() }),
  );
}

/** Buys credits at 1.3 each. @returns the top-up's ID */
export async function buy(
  { billing }: LedgerFixture,
  { accountId }: LedgerPerson,
  credits: string,
): Promise<string> {
  const price = priceCredits(parseAmount(credits), '1.3');
  const payment = { provider: 'manual' as const, paymentId: newId(), currency: 'USD' };
  const { topupId } = await recordTopup(billing, { accountId, ...payment, ...price, rate: '1.3' });
  return topupId;
}

/** Pays for this many images, which are delivered. @returns the charge's ID */
export async function spend(engine: PostingEngine, person: LedgerPerson, images: bigint): Promise<string> {
  const chargeId = await hold(engine, person, images);
  await end(engine, { accountId: person.accountId, chargeId }, 'delivered');
  return chargeId;
}

/** Requests this many images, but the work fails. @returns the charge's ID */
export async function fail(engine: PostingEngine, person: LedgerPerson, images: bigint): Promise<string> {
  const chargeId = await hold(engine, person, images);
  await end(engine, { accountId: person.accountId, chargeId }, 'failed');
  return chargeId;
}

/** Requests this many images, and leaves the work in progress. @returns the charge's ID */
export async function hold(
  engine: PostingEngine,
  { accountId, keyId }: LedgerPerson,
  images: bigint,
): Promise<string> {
  const chargeId = newId();
  const { outcome } = await engine.hold({
    chargeId,
    accountId,
    keyId,
    model: MODEL,
    requestedModel: MODEL,
    group: 'Vendora-Main',
    units: images,
    quotedAmount: nanos(images * parseAmount('0.03')),
    expiresAtMs: Date.parse('2100-01-01'),
    deadlineMs: null,
    taskId: null,
    requestId: 'request',
  });
  expect(outcome).toBe('held');
  return chargeId;
}

/** Ends work in progress. */
export async function end(
  engine: PostingEngine,
  charge: { accountId: string; chargeId: string },
  outcome: 'delivered' | 'failed',
): Promise<void> {
  await engine.resolve({
    ...charge,
    outcome,
    deliveredUnits: null,
    channel: 'c',
    reason: outcome === 'failed' ? 'upstream_failed' : null,
    upstreamStatus: null,
    latencyMs: null,
  });
}
