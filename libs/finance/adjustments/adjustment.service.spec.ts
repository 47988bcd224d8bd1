import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { inTransaction } from '#database/database.js';
import { ApprovalService } from '#approvals/approval.service.js';
import type { Actor } from '#identity/role.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { actionsOn } from '../../../test/support/audit.js';
import { openEntities } from '../../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture, requireCleanLedger } from '../../../test/support/ledger.js';
import { asking, balanceOf } from '../../../test/support/payments.js';
import { staffActor } from '../../../test/support/staff.js';
import { ticketOf } from '../../../test/support/tickets.js';
import { recordTopup } from '../../../test/support/topups.js';
import { onOneDay } from '../../../test/support/utc-day.js';
import { AdjustmentService } from './adjustment.service.js';

let ledger: LedgerFixture;
let source: DataSource;
let approvals: ApprovalService;
let service: AdjustmentService;
let finance: Actor;
let accountId: string;
let ticketId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  approvals = new ApprovalService(source);
  service = new AdjustmentService({ source, approvals });
  await recordLimit(ledger.billing, 'adjustment', parseAmount('5'));
});
beforeEach(async () => {
  finance = await staffActor(ledger, 'finance');
  ({ accountId } = await ledger.account({ credits: '10' }));
  ({ ticketId } = await ticketOf(ledger, accountId));
});
afterAll(async () => {
  await requireCleanLedger(ledger);
  await source.destroy();
  await ledger.close();
});

function adjustBy(amount: bigint, of: { actor?: Actor; requestId?: string } = {}) {
  const { actor = finance, requestId = newId() } = of;
  const wanted = { accountId, ticketId, amount, reason: 'compensation', note: 'a mistake' } as const;
  return service.adjust(wanted, asking(actor, requestId));
}

function approve(approvalId: string | null, actor: Actor) {
  return approvals.approve({ approvalId: approvalId as string, actor, note: null, requestId: newId() });
}

const balance = () => balanceOf(ledger, accountId);
const given = parseAmount('2.5');
const conflict = { code: 'conflict' };

describe('an adjustment', () => {
  it('is made once for its request, however often and concurrently it is requested', async () => {
    const requestId = newId();
    const answers = await Promise.all([1, 2, 3].map(() => adjustBy(given, { requestId })));
    answers.push(await adjustBy(given, { requestId }));
    expect(new Set(answers.map(({ done }) => done?.id)).size).toBe(1);
    expect(await balance()).toBe('12.5');
    await expect(adjustBy(parseAmount('2.6'), { requestId })).rejects.toMatchObject(conflict);
    expect(await actionsOn(ledger, `account:${accountId}`)).toEqual(['account.adjusted']);
  });

  it('above the limit waits for a second person; small ones of one day add up to it', () =>
    onOneDay(async () => {
      const actor = await staffActor(ledger, 'finance');
      const before = Number(await balance());
      await adjustBy(parseAmount('4'), { actor });
      const { state, done, approvalId } = await adjustBy(given, { actor });
      expect([state, done]).toEqual(['pending', null]);
      expect(Number(await balance())).toBe(before + 4);
      await expect(approve(approvalId, actor)).rejects.toMatchObject({ code: 'second_person_required' });
      const others = await Promise.all([1, 2].map(() => staffActor(ledger, 'finance')));
      await Promise.allSettled(others.map((each) => approve(approvalId, each)));
      expect(Number(await balance())).toBe(before + 6.5);
    }));

  it('takes no more than the balance', async () => {
    for (let times = 0; times < 2; times += 1)
      await adjustBy(-parseAmount('5'), { actor: await staffActor(ledger, 'finance') });
    const more = adjustBy(-parseAmount('1'), { actor: await staffActor(ledger, 'finance') });
    await expect(more).rejects.toMatchObject(conflict);
    expect(await balance()).toBe('0');
  });

  it('cannot be made by someone with an interest in the account', async () => {
    ({ accountId } = finance);
    ({ ticketId } = await ticketOfOwn());
    await expect(adjustBy(given)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await balance()).toBe('0');
  });

  it('is reversed once, even by two people at once', async () => {
    const { done } = await adjustBy(given);
    const two = [finance, await staffActor(ledger, 'finance')];
    const ends = await Promise.allSettled(
      two.map((actor) => service.reverse(done!.id, 'a mistake', asking(actor))),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await balance()).toBe('10');
    await expect(service.reverse(newId(), 'x', asking(finance))).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a write-off of a whole debt that waits for a second person', () => {
  async function ask() {
    const wanted = { accountId, ticketId, amount: null, note: 'gone' } as const;
    const { approvalId } = await service.writeOff(wanted, asking(finance));
    return approvalId;
  }

  beforeEach(async () => {
    ({ accountId } = await ledger.account({ credits: '0' }));
    ({ ticketId } = await ticketOf(ledger, accountId));
  });

  it('gives up no more than that person saw, however the debt has grown since', async () => {
    const [small, large] = [await spend('6'), await spend('40')];
    await disputed(small);
    const approvalId = await ask();
    await disputed(large);
    await approve(approvalId, await staffActor(ledger, 'finance'));
    expect(await balance()).toBe('-40');
  });

  it('gives up what is left of it, if it has shrunk', async () => {
    await disputed(await spend('6'));
    const approvalId = await ask();
    await pay('2');
    await approve(approvalId, await staffActor(ledger, 'finance'));
    expect(await balance()).toBe('0');
  });
});

function pay(credits: string) {
  const price = priceCredits(parseAmount(credits), '1.3');
  const payment = { provider: 'stripe' as const, paymentId: newId(), currency: 'USD', rate: '1.3' as const };
  return recordTopup(ledger.billing, { accountId, ...payment, ...price });
}

type Spent = Awaited<ReturnType<typeof spend>>;

async function spend(credits: string) {
  const { topupId } = await pay(credits);
  const people = { requestedBy: finance.userId, approvedBy: 'user:two', requestId: newId() };
  const spent = {
    accountId,
    ticketId,
    amount: -parseAmount(credits),
    reason: 'correction',
    note: 'x',
  } as const;
  await inTransaction(ledger.billing, (client) => adjust(client, { ...spent, ...people }));
  return { topupId, amountMinor: priceCredits(parseAmount(credits), '1.3').paidMinor };
}

/** The bank takes back the payment for credits that are gone. */
async function disputed(spent: Spent): Promise<void> {
  const dispute = { provider: 'stripe', disputeId: newId(), accountId, state: 'lost', ...spent } as const;
  await inTransaction(ledger.billing, (client) => applyDispute(client, dispute, 'USD'));
}

/** A ticket of the finance person's own account. */
async function ticketOfOwn(): Promise<{ ticketId: string }> {
  const id = newId();
  await ledger.owner.query(
    `INSERT INTO tickets (id, account_id, opened_by, kind, subject) VALUES ($1, $2, $3, 'refund', 'Back')`,
    [id, finance.accountId, finance.userId],
  );
  return { ticketId: id };
}
