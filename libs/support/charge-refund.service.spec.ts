import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import type { Actor } from '#identity/role.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { openEntities } from '../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { type LedgerPerson, spend } from '../../test/support/ledger-person.js';
import { balanceOf, NOBODY_WAITS } from '../../test/support/payments.js';
import { customerOf, speakingFor } from '../../test/support/speakers.js';
import { staffActor } from '../../test/support/staff.js';
import { onOneDay } from '../../test/support/utc-day.js';
import { ChargeRefundService, type ChargeRefundResult } from './charge-refund.service.js';
import { type Speaker, TicketService } from './ticket.service.js';

let ledger: LedgerFixture;
let source: DataSource;
let engine: PostingEngine;
let approvals: ApprovalService;
let tickets: TicketService;
let refunds: ChargeRefundService;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  const { billing: pool, log } = ledger;
  engine = new PostingEngine({ pool, loadPriceBook, log });
  approvals = new ApprovalService(source);
  tickets = new TicketService(source);
  refunds = new ChargeRefundService({ source, pool, tickets, approvals, relay: NOBODY_WAITS });
  await recordLimit(pool, 'charge-refund', parseAmount('1'));
});
afterAll(async () => {
  expect(await checkLedger(ledger.billing, { graceMs: 60_000 })).toEqual({ ok: true, violations: [] });
  await Promise.all([engine.close(), source.destroy()]);
  await ledger.close();
});

interface Complaint {
  someone: LedgerPerson;
  customer: Speaker;
  ticketId: string;
  chargeId: string;
}

const support = () => staffActor(ledger, 'support');

/** Somebody paid 3 for a hundred images, and wants their credits back. */
async function complaint(): Promise<Complaint> {
  const someone = await ledger.account({ credits: '10' });
  const customer = await customerOf(ledger, someone.accountId);
  const chargeId = await spend(engine, someone, 100n);
  const wanted = { kind: 'refund', subject: 'Money back', body: 'They are grey.', chargeId } as const;
  const { ticket } = await tickets.open(customer, wanted);
  return { someone, customer, ticketId: ticket.id, chargeId };
}

function refund(
  actor: Actor,
  { ticketId, chargeId }: Pick<Complaint, 'ticketId' | 'chargeId'>,
  amount: string,
  requestId = newId(),
): Promise<ChargeRefundResult> {
  const wanted = { ticketId, chargeId, amount: parseAmount(amount), reason: 'grey', requestId };
  return refunds.refund(speakingFor(actor), wanted);
}

async function refundable({ chargeId }: Complaint): Promise<string> {
  return formatAmount((await refunds.ofCharge(chargeId)).refundable);
}

async function mailsTo({ actor }: Speaker): Promise<number> {
  const { rows } = await ledger.owner.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM mail_outbox WHERE recipient = $1',
    [actor.email],
  );
  return rows[0]!.count;
}

function approve({ approvalId }: ChargeRefundResult, actor: Actor) {
  const decision = { approvalId: approvalId as string, note: null, requestId: newId() };
  return approvals.approve({ ...decision, actor });
}

describe('a refund of a charge', () => {
  it('is made and announced once, however often and concurrently its request is sent', async () => {
    const about = await complaint();
    const [actor, requestId] = [await support(), newId()];
    const send = () => refund(actor, about, '0.5', requestId);
    const answers = [...(await Promise.all([send(), send(), send()])), await send()];
    expect(answers.map(({ state }) => state)).toEqual(answers.map(() => 'refunded'));
    expect(new Set(answers.map((each) => each.refund?.refundId)).size).toBe(1);
    expect(await balanceOf(ledger, about.someone.accountId)).toBe('7.5');
    const { ticket, messages } = await tickets.find(about.customer, about.ticketId);
    expect(ticket).toMatchObject({ outcome: 'refunded', state: 'answered' });
    expect(messages.filter(({ kind }) => kind === 'event')).toHaveLength(1);
    expect(await mailsTo(about.customer)).toBe(1);
  });

  it('with another amount under the same request ID is refused', async () => {
    const about = await complaint();
    const [actor, requestId] = [await support(), newId()];
    await refund(actor, about, '0.5', requestId);
    await expect(refund(actor, about, '0.4', requestId)).rejects.toMatchObject({
      code: 'conflict',
      param: 'requestId',
    });
  });

  it('by several people at once never exceeds what was paid', async () => {
    const about = await complaint();
    const people = await Promise.all(Array.from({ length: 5 }, support));
    const ends = await Promise.allSettled(people.map((actor) => refund(actor, about, '0.8')));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await refundable(about)).toBe('0.6');
    expect(await balanceOf(ledger, about.someone.accountId)).toBe('9.4');
  });

  it('is only for a charge of the ticket’s account', async () => {
    const [about, other] = [await complaint(), await complaint()];
    const mixed = { ticketId: about.ticketId, chargeId: other.chargeId };
    await expect(refund(await support(), mixed, '0.5')).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'chargeId',
    });
    const unknown = { ticketId: about.ticketId, chargeId: 'none' };
    await expect(refund(await support(), unknown, '0.5')).rejects.toMatchObject({ param: 'chargeId' });
    await expect(refunds.ofCharge('none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('needs an open ticket, and someone other than its customer', async () => {
    const about = await complaint();
    await tickets.close(about.customer, about.ticketId);
    await expect(refund(await support(), about, '0.5')).rejects.toMatchObject({ code: 'conflict' });
    await tickets.reopen(about.customer, about.ticketId);
    const itself: Actor = { ...about.customer.actor, roles: ['user', 'support'] };
    await expect(refund(itself, about, '0.5')).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await refundable(about)).toBe('3');
  });
});

describe('above the limit of one person', () => {
  it('a refund waits for another person, and is made once they agree, even by two approvals at once', async () => {
    const about = await complaint();
    const [asks, agrees] = [await support(), await support()];
    const requestId = newId();
    const answer = await refund(asks, about, '1.1', requestId);
    expect(answer).toMatchObject({ state: 'pending', refund: null });
    expect((await refund(asks, about, '1.1', requestId)).approvalId).toBe(answer.approvalId);
    await expect(approve(answer, asks)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await refundable(about)).toBe('3');
    await Promise.all([approve(answer, agrees), approve(answer, agrees)]);
    expect(await refundable(about)).toBe('1.9');
    expect(await refund(asks, about, '1.1', requestId)).toMatchObject({ state: 'refunded' });
    expect(await mailsTo(about.customer)).toBe(1);
  });

  it('the approval does not refund what was refunded meanwhile', async () => {
    const about = await complaint();
    const answer = await refund(await support(), about, '3');
    await refund(await support(), about, '0.1');
    await expect(approve(answer, await support())).rejects.toMatchObject({ code: 'conflict' });
    expect(await refundable(about)).toBe('2.9');
  });

  it('a rejected refund stays rejected if its request is repeated', async () => {
    const about = await complaint();
    const [asks, requestId] = [await support(), newId()];
    const { approvalId } = await refund(asks, about, '2', requestId);
    const decision = { approvalId: approvalId as string, note: 'no', requestId: newId() };
    await approvals.reject({ ...decision, actor: await support() });
    expect(await refund(asks, about, '2', requestId)).toMatchObject({ state: 'rejected', refund: null });
    expect(await refundable(about)).toBe('3');
  });

  it('smaller refunds count together if one person makes them at once from several tickets', () =>
    onOneDay(async () => {
      const actor = await support();
      const all = [await complaint(), await complaint(), await complaint()];
      const answers = await Promise.all(all.map((about) => refund(actor, about, '0.5')));
      expect(answers.map(({ state }) => state).sort()).toEqual(['pending', 'refunded', 'refunded']);
    }));
});
