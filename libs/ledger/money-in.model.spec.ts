import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { inTransaction } from '#database/database.js';
import { nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { loadPriceBook } from '../catalog/catalog.store.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { applyDispute } from './chargeback.js';
import { readBalance } from './customer-account.js';
import { transferInvite } from './invite-transfer.js';
import { checkLedger } from './ledger-check.js';
import { readLots } from './lots.js';
import { lockBalance } from './posting.js';
import { PostingEngine } from './posting-engine.js';
import { beginTopupRefund, endTopupRefund } from './topup-refund.js';
import { recordTopup } from './topup.js';

/**
 * Random top-ups, uses, refunds, disputes and invite transfers against a model that knows every single cent of credit and
 * what became of it. MONEY_SEED replays a run.
 */
const SEED = Number(process.env['MONEY_SEED'] ?? randomInt(2 ** 31));
const ROUNDS = Number(process.env['MONEY_ROUNDS'] ?? 25);
const CENT = 10_000_000n;
const ACCOUNTS = 3;

type Step =
  | { kind: 'topup'; account: number; cents: number; rate: '1.3' | '1.2' }
  | { kind: 'hold'; account: number; cents: number }
  | { kind: 'resolve'; hold: number; delivered: boolean }
  | { kind: 'refund'; topup: number; cents: number | null }
  | { kind: 'refund-end'; refund: number; succeeded: boolean }
  | { kind: 'dispute'; topup: number }
  | { kind: 'dispute-end'; dispute: number; won: boolean }
  | { kind: 'transfer'; account: number; part: number };

const account = fc.nat(ACCOUNTS - 1);
const any = fc.nat(30);
const cents = fc.integer({ min: 1, max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('topup' as const), account, cents, rate: fc.constantFrom('1.3', '1.2') }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hold' as const), account, cents }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      hold: any,
      delivered: fc.nat(3).map(Boolean),
    }),
  },
  fc.record({ kind: fc.constant('refund' as const), topup: any, cents: fc.option(cents, { nil: null }) }),
  fc.record({ kind: fc.constant('refund-end' as const), refund: any, succeeded: fc.boolean() }),
  fc.record({ kind: fc.constant('dispute' as const), topup: any }),
  fc.record({ kind: fc.constant('dispute-end' as const), dispute: any, won: fc.boolean() }),
  fc.record({ kind: fc.constant('transfer' as const), account, part: fc.integer({ min: 1, max: 4 }) }),
);

/** One cent of credit: unused, or where it is. */
interface Cent {
  lot: string;
  gone: string | null;
}

class ModelAccount {
  readonly lots: Cent[] = [];
  /** Uses that found no credit, one for each cent, first to be covered first. */
  unmet: string[] = [];
  main = 0n;
  held = 0n;
  invite = 0n;
  pending = 0n;
  topups = 0;

  add(lot: string, count: number): void {
    for (let n = 0; n < count; n += 1) this.lots.push({ lot, gone: null });
    this.cover();
  }

  use(key: string, count: number): void {
    for (let n = 0; n < count; n += 1) this.unmet.push(key);
    this.cover();
  }

  /** A dispute that was won takes its uses back: those that found no credit first, then the last ones. */
  restore(key: string): void {
    this.unmet = this.unmet.filter((each) => each !== key);
    this.free(key);
  }

  free(key: string): void {
    for (const cent of this.lots) if (cent.gone === key) cent.gone = null;
    this.cover();
  }

  unusedOf(lot: string): Cent[] {
    return this.lots.filter((cent) => cent.lot === lot && cent.gone === null);
  }

  private cover(): void {
    for (const cent of this.lots)
      if (cent.gone === null && this.unmet.length > 0) cent.gone = this.unmet.shift()!;
  }
}

interface ModelTopup {
  id: string;
  paymentId: string;
  account: number;
  cents: number;
  reversed: number;
  settledBack: number;
  reward: { amount: bigint; taken: bigint; owed: bigint } | null;
}

interface Reversal {
  id: string;
  topup: ModelTopup;
  cents: number;
  used: number;
  clawback: { amount: bigint; taken: bigint };
}

describe(`money in against a model of every cent (MONEY_SEED=${SEED})`, () => {
  let fixture: LedgerFixture;
  let engine: PostingEngine;
  let ids: { accountId: string; keyId: string }[];
  let model: ModelAccount[];
  let topups: ModelTopup[];
  let holds: { chargeId: string; account: number; cents: number }[];
  let refunds: Reversal[];
  let disputes: Reversal[];

  beforeAll(async () => {
    console.log(`MONEY_SEED=${SEED} MONEY_ROUNDS=${ROUNDS}`);
    fixture = await createLedgerFixture();
    engine = new PostingEngine({ pool: fixture.billing, loadPriceBook, log: fixture.log });
    await fixture.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-4', 0.01, now())`,
    );
  });
  afterAll(async () => {
    await engine.close();
    await fixture.close();
  });

  /** The first account invited the second, the second the third. */
  async function reset(): Promise<void> {
    ids = [];
    model = [];
    [topups, holds, refunds, disputes] = [[], [], [], []];
    for (let index = 0; index < ACCOUNTS; index += 1) {
      ids.push(await fixture.account({ credits: '0' }));
      model.push(new ModelAccount());
      if (index === 0) continue;
      await fixture.billing.query(
        'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
        [ids[index]!.accountId, ids[index - 1]!.accountId],
      );
    }
  }

  async function topUp(draw: Extract<Step, { kind: 'topup' }>): Promise<void> {
    const paymentId = newId();
    const credits = nanos(BigInt(draw.cents) * CENT);
    const { topupId } = await recordTopup(fixture.billing, {
      ...{ accountId: ids[draw.account]!.accountId, provider: 'manual', paymentId, currency: 'USD' },
      ...{ ...priceCredits(credits, draw.rate), rate: draw.rate },
    });
    const owner = model[draw.account]!;
    owner.topups += 1;
    owner.main += credits;
    owner.add(topupId, draw.cents);
    const isRewarded = draw.account > 0 && owner.topups <= 2;
    const reward = isRewarded ? { amount: credits / 10n, taken: 0n, owed: 0n } : null;
    if (reward) model[draw.account - 1]!.invite += reward.amount;
    topups.push({
      ...{
        id: topupId,
        paymentId,
        account: draw.account,
        cents: draw.cents,
        reversed: 0,
        settledBack: 0,
        reward,
      },
    });
  }

  async function hold(draw: Extract<Step, { kind: 'hold' }>): Promise<void> {
    const { accountId, keyId } = ids[draw.account]!;
    const chargeId = newId();
    const amount = nanos(BigInt(draw.cents) * CENT);
    const { outcome } = await engine.hold({
      ...{
        chargeId,
        accountId,
        keyId,
        model: 'imgmodel-4',
        requestedModel: 'imgmodel-4',
        group: 'Vendora-Main',
      },
      ...{ units: BigInt(draw.cents), quotedAmount: amount, expiresAtMs: Date.parse('2100-01-01') },
      ...{ deadlineMs: null, taskId: null, requestId: 'request' },
    });
    const owner = model[draw.account]!;
    expect(outcome).toBe(owner.main >= amount ? 'held' : 'refused');
    if (outcome !== 'held') return;
    owner.main -= amount;
    owner.held += amount;
    holds.push({ chargeId, account: draw.account, cents: draw.cents });
  }

  async function resolve(draw: Extract<Step, { kind: 'resolve' }>): Promise<void> {
    const [charge] = holds.splice(draw.hold % Math.max(1, holds.length), 1);
    if (!charge) return;
    await engine.resolve({
      ...{ chargeId: charge.chargeId, accountId: ids[charge.account]!.accountId, deliveredUnits: null },
      ...{ outcome: draw.delivered ? 'delivered' : 'failed', channel: 'c', reason: null },
      ...{ upstreamStatus: null, latencyMs: null },
    });
    const owner = model[charge.account]!;
    const amount = BigInt(charge.cents) * CENT;
    owner.held -= amount;
    if (draw.delivered) owner.use(charge.chargeId, charge.cents);
    else owner.main += amount;
  }

  async function refund(draw: Extract<Step, { kind: 'refund' }>): Promise<void> {
    const topup = topups[draw.topup % Math.max(1, topups.length)];
    if (!topup) return;
    const owner = model[topup.account]!;
    const unused = owner.unusedOf(topup.id);
    const most = Math.min(unused.length, owner.main > 0n ? Number(owner.main / CENT) : 0);
    // Moved rewards are no whole cents, so main may hold a part of one more than the model counts.
    const wanted = draw.cents ?? most;
    const asked = { topupId: topup.id, credits: nanos(BigInt(wanted) * CENT), reason: 'r', actor: 'system' };
    const begun = inTransaction(fixture.billing, (client) =>
      beginTopupRefund(client, { ...asked, requestId: newId() }),
    );
    if (wanted === 0 || wanted > most) return expect(begun).rejects.toMatchObject({ code: 'conflict' });
    const { id, paidMinor } = await begun;
    expect(paidMinor).toBeGreaterThan(0n);
    unused.slice(0, wanted).forEach((cent) => (cent.gone = id));
    owner.main -= asked.credits;
    owner.pending += asked.credits;
    topup.reversed += wanted;
    refunds.push({ id, topup, cents: wanted, used: 0, clawback: { amount: 0n, taken: 0n } });
  }

  async function endRefund(draw: Extract<Step, { kind: 'refund-end' }>): Promise<void> {
    const [ended] = refunds.splice(draw.refund % Math.max(1, refunds.length), 1);
    if (!ended) return;
    const outcome = draw.succeeded ? 'succeeded' : 'failed';
    for (let times = 0; times < 2; times += 1) {
      await inTransaction(fixture.billing, (client) =>
        endTopupRefund(client, { refundId: ended.id, providerRefundId: null, outcome }),
      );
    }
    const owner = model[ended.topup.account]!;
    owner.pending -= BigInt(ended.cents) * CENT;
    if (draw.succeeded) return clawBack(ended);
    ended.topup.reversed -= ended.cents;
    owner.main += BigInt(ended.cents) * CENT;
    owner.free(ended.id);
  }

  function clawBack(reversal: Reversal): void {
    const { topup, cents: count } = reversal;
    topup.settledBack += count;
    const { reward } = topup;
    if (!reward) return;
    const target = (reward.amount * BigInt(topup.settledBack)) / BigInt(topup.cents);
    const amount = target - reward.taken - reward.owed;
    if (amount <= 0n) return;
    const inviter = model[topup.account - 1]!;
    const taken = inviter.invite < amount ? inviter.invite : amount;
    inviter.invite -= taken;
    reward.taken += taken;
    reward.owed += amount - taken;
    reversal.clawback = { amount, taken };
  }

  function tell(topup: ModelTopup, disputeId: string, state: 'open' | 'won' | 'lost'): Promise<void> {
    const amountMinor = 1_000_000n;
    const { accountId } = ids[topup.account]!;
    const dispute = {
      provider: 'manual',
      disputeId,
      topupId: topup.id,
      accountId,
      amountMinor,
      state,
    } as const;
    return inTransaction(fixture.billing, (client) => applyDispute(client, dispute, 'USD'));
  }

  async function dispute(draw: Extract<Step, { kind: 'dispute' }>): Promise<void> {
    const topup = topups[draw.topup % Math.max(1, topups.length)];
    if (!topup) return;
    const id = newId();
    for (let times = 0; times < 2; times += 1) await tell(topup, id, 'open');
    const owner = model[topup.account]!;
    const left = topup.cents - topup.reversed;
    const unused = owner.unusedOf(topup.id).slice(0, left);
    unused.forEach((cent) => (cent.gone = `unused of ${id}`));
    owner.main -= BigInt(left) * CENT;
    const used = left - unused.length;
    owner.use(id, used);
    topup.reversed += left;
    const reversal = { id, topup, cents: left, used, clawback: { amount: 0n, taken: 0n } };
    clawBack(reversal);
    disputes.push(reversal);
  }

  async function endDispute(draw: Extract<Step, { kind: 'dispute-end' }>): Promise<void> {
    const [ended] = disputes.splice(draw.dispute % Math.max(1, disputes.length), 1);
    if (!ended) return;
    for (const state of [draw.won ? 'won' : 'lost', 'open', 'lost'] as const)
      await tell(ended.topup, ended.id, state);
    if (!draw.won) return;
    const { topup, cents: count, clawback } = ended;
    const owner = model[topup.account]!;
    owner.main += BigInt(count) * CENT;
    topup.reversed -= count;
    topup.settledBack -= count;
    owner.free(`unused of ${ended.id}`);
    owner.restore(ended.id);
    if (!topup.reward) return;
    model[topup.account - 1]!.invite += clawback.taken;
    topup.reward.taken -= clawback.taken;
    topup.reward.owed -= clawback.amount - clawback.taken;
  }

  /** Whole cents only, so that the model can count them. */
  async function transfer(draw: Extract<Step, { kind: 'transfer' }>): Promise<void> {
    const owner = model[draw.account]!;
    const count = Number(owner.invite / CENT / BigInt(draw.part));
    if (count === 0) return;
    const { accountId } = ids[draw.account]!;
    const asked = { accountId, requestId: newId(), amount: nanos(BigInt(count) * CENT) };
    for (let times = 0; times < 2; times += 1)
      await inTransaction(fixture.billing, (client) => transferInvite(client, asked));
    owner.invite -= asked.amount;
    owner.main += asked.amount;
    owner.add(asked.requestId, count);
  }

  function run(draw: Step): Promise<void> {
    switch (draw.kind) {
      case 'topup':
        return topUp(draw);
      case 'hold':
        return hold(draw);
      case 'resolve':
        return resolve(draw);
      case 'refund':
        return refund(draw);
      case 'refund-end':
        return endRefund(draw);
      case 'dispute':
        return dispute(draw);
      case 'dispute-end':
        return endDispute(draw);
      case 'transfer':
        return transfer(draw);
    }
  }

  async function compare(): Promise<void> {
    for (const [index, { accountId }] of ids.entries()) {
      const owner = model[index]!;
      const { main, held, invite, pending } = owner;
      expect(await readBalance(fixture.billing, accountId)).toMatchObject({
        ...{ main, held, invite, refundPending: pending, frozen: main < 0n },
      });
      const { lots, unmet } = await inTransaction(fixture.billing, async (client) =>
        readLots(client, await lockBalance(client, accountId)),
      );
      expect(unmet).toBe(BigInt(owner.unmet.length) * CENT);
      for (const { topupId, unused } of lots) {
        if (topupId !== null) expect(unused).toBe(BigInt(owner.unusedOf(topupId).length) * CENT);
      }
    }
  }

  it('comes to the same balances and lots, and keeps the invariants', async () => {
    const rounds = fc.sample(fc.array(step, { minLength: 20, maxLength: 60 }), {
      seed: SEED,
      numRuns: ROUNDS,
    });
    for (const steps of rounds) {
      await reset();
      for (const draw of steps) await run(draw);
      await compare();
    }
    expect(await checkLedger(fixture.billing, { graceMs: 0 })).toEqual({ ok: true, violations: [] });
  }, 180_000);
});
