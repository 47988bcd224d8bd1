import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { ticketOf } from '../../../test/support/tickets.js';
import { type ChargeRefundRequest, chargeRefunds, refundCharge } from './charge-refund.js';
import { readBalance } from '../postings/customer-account.js';
import { checkLedger } from '../checks/ledger-check.js';
import { PostingEngine } from './posting-engine.js';

let ledger: LedgerFixture;
let engine: PostingEngine;
let customer: { accountId: string; keyId: string };
let userId: string;
let ticketId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  const { billing: pool, log } = ledger;
  engine = new PostingEngine({
    pool,
    loadPriceBook: (client) => loadPriceBook(client),
    log,
    registry: new Registry(),
  });
});
afterAll(async () => {
  await engine?.close();
  await ledger?.close();
});

beforeEach(async () => {
  customer = await ledger.account({ credits: '1' });
  ({ userId, ticketId } = await ticketOf(ledger, customer.accountId));
});

/** A charge of 0.10 for five images, of which this many were delivered. */
async function charge(delivered: bigint | null = null, outcome: 'delivered' | 'failed' = 'delivered') {
  const chargeId = newId();
  const { accountId } = customer;
  await hold(chargeId);
  await engine.resolve({
    chargeId,
    accountId,
    outcome,
    deliveredUnits: delivered,
    channel: null,
    reason: null,
    upstreamStatus: null,
    latencyMs: null,
  });
  return chargeId;
}

function hold(chargeId = newId()) {
  const { accountId, keyId } = customer;
  return engine.hold({
    chargeId,
    accountId,
    keyId,
    model: 'vendora-imagine-image',
    requestedModel: 'vendora-imagine-image',
    group: 'Vendora-Main',
    units: 5n,
    quotedAmount: parseAmount('0.1'),
    taskId: null,
    requestId: newId(),
    expiresAtMs: Date.now() + 60_000,
    deadlineMs: Date.now() + 60_000,
  });
}

function refund(chargeId: string, amount: string, more: Partial<ChargeRefundRequest> = {}) {
  return inTransaction(ledger.billing, (client) =>
    refundCharge(client, {
      chargeId,
      amount: parseAmount(amount),
      reason: 'It was bad.',
      ticketId,
      requestedBy: userId,
      approvedBy: null,
      requestId: newId(),
      ...more,
    }),
  );
}

async function main(): Promise<string> {
  return formatAmount((await readBalance(ledger.billing, customer.accountId))!.main);
}

async function expectClean(): Promise<void> {
  expect(await checkLedger(ledger.billing, { graceMs: 60_000 })).toEqual({ ok: true, violations: [] });
}

describe('a refund after settlement', () => {
  it('is refused for a deleted account, and says so', async () => {
    const chargeId = await charge(3n);
    await ledger.owner.query('UPDATE accounts SET closing_at = now(), deleted_at = now() WHERE id = $1', [
      customer.accountId,
    ]);
    await expect(refund(chargeId, '0.02')).rejects.toMatchObject({ code: 'deleted', message: /was deleted/ });
    expect(await main()).toBe('0.94');
  });

  it('refunds in parts up to the settled amount and announces each', async () => {
    const chargeId = await charge(3n);
    expect(await refund(chargeId, '0.02')).toMatchObject({ seq: 1, amount: parseAmount('0.02') });
    expect(await refund(chargeId, '0.04')).toMatchObject({ seq: 2 });
    await expect(refund(chargeId, '0.000000001')).rejects.toMatchObject({ code: 'beyond_settled' });
    expect(await main()).toBe('1');
    expect(await chargeRefunds(ledger.billing, chargeId)).toHaveLength(2);
    const { rows } = await ledger.owner.query(
      `SELECT payload ->> 'kind' AS kind, payload ->> 'amount' AS amount FROM outbox
       WHERE topic = 'charge.refunded' AND payload ->> 'chargeId' = $1 ORDER BY id`,
      [chargeId],
    );
    expect(rows).toEqual([
      { kind: 'partial', amount: '0.04' },
      { kind: 'refund', amount: '0.02' },
      { kind: 'refund', amount: '0.04' },
    ]);
    await expectClean();
  });

  it('is made once for the same request, and refused for another with the same ID', async () => {
    const chargeId = await charge();
    const requestId = newId();
    const refunds = await Promise.all(
      Array.from({ length: 20 }, () => refund(chargeId, '0.03', { requestId })),
    );
    expect(new Set(refunds.map(({ refundId }) => refundId)).size).toBe(1);
    expect(await main()).toBe('0.93');
    await expect(refund(chargeId, '0.04', { requestId })).rejects.toMatchObject({ code: 'conflict' });
    await expectClean();
  });

  it('never exceeds the settled amount, even with many at once', async () => {
    const chargeId = await charge();
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => refund(chargeId, '0.03')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await main()).toBe('0.99');
    await expectClean();
  });

  it('can be spent again by its key, once, in the month of its hold', async () => {
    await ledger.owner.query('UPDATE api_keys SET monthly_limit_nanos = $2 WHERE id = $1', [
      customer.keyId,
      parseAmount('0.1'),
    ]);
    const [chargeId, requestId] = [await charge(), newId()];
    expect(await hold()).toMatchObject({ outcome: 'refused', code: 'key_limit_exceeded' });
    await refund(chargeId, '0.1', { requestId });
    await refund(chargeId, '0.1', { requestId });
    expect(await hold()).toMatchObject({ outcome: 'held' });
    expect(await hold()).toMatchObject({ outcome: 'refused', code: 'key_limit_exceeded' });
    await expectClean();
  });

  it('leaves the limits of later months as they are', async () => {
    const chargeId = await charge();
    for (const sql of [
      `UPDATE charges SET created_at = created_at - interval '1 month' WHERE key_id = $1`,
      `UPDATE key_spend SET month = month - interval '1 month' WHERE key_id = $1`,
    ])
      await ledger.owner.query(sql, [customer.keyId]);
    const second = await charge();
    await refund(chargeId, '0.03');
    await refund(second, '0.01');
    const { rows } = await ledger.owner.query<{ spent: bigint }>(
      'SELECT spent FROM key_spend WHERE key_id = $1 ORDER BY month',
      [customer.keyId],
    );
    expect(rows.map(({ spent }) => spent)).toEqual([parseAmount('0.07'), parseAmount('0.09')]);
  });

  it('is refused for a charge that was not settled', async () => {
    await expect(refund(newId(), '0.01')).rejects.toMatchObject({ code: 'unknown_charge' });
    await expect(refund(await charge(null, 'failed'), '0.01')).rejects.toMatchObject({ code: 'not_settled' });
    await expect(refund(await charge(), '0')).rejects.toThrow(RangeError);
    await expectClean();
  });

  it('cannot be changed afterwards, and a false one is found', async () => {
    const chargeId = await charge();
    const { refundId } = await refund(chargeId, '0.01');
    await expect(
      ledger.owner.query('UPDATE charge_refunds SET amount = 1 WHERE id = $1', [refundId]),
    ).rejects.toThrow('append-only');
    await expect(ledger.billing.query('DELETE FROM charge_refunds')).rejects.toThrow('permission denied');
    const client = await ledger.owner.connect();
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO charge_refunds (id, charge_id, seq, account_id, amount, reason, ticket_id, requested_by, request_id,
         transaction_id)
       SELECT 'false', charge_id, 2, account_id, 200000000, reason, ticket_id, requested_by, 'x', transaction_id
       FROM charge_refunds WHERE id = $1`,
      [refundId],
    );
    const { violations } = await checkLedger(ledger.billing, { graceMs: 60_000, client });
    expect(violations.map(({ invariant }) => invariant)).toEqual([6]);
    await client.query('ROLLBACK');
    client.release();
  });
});
