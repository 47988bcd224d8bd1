import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { beginTopupRefund } from '#ledger/postings/topup-refund.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { type Person, person } from '../support/console.js';
import { requestOf, routesOf, urlOf } from '../support/console-routes.js';
import { paidCharge } from '../support/paid-charge.js';
import { type Relay, startRelay } from '../support/relay.js';
import { lineOfPayment, linesAtBank } from '../support/reported-lines.js';
import { recordTopup } from '../support/topups.js';

/** What belongs to the account of a person with every role. */
interface Own {
  accountId: string;
  userId: string;
  ticketId: string;
  chargeId: string;
  topupId: string;
  refundId: string;
  itemId: string;
  orderItemId: string;
  adjustmentId: string;
  writeOffId: string;
  lineId: string;
  /** Lines of a bank statement: one unmatched, one matched. */
  bankLineId: string;
  matchedLineId: string;
}

interface Call {
  params?: Record<string, string>;
  body?: object;
}

const asked = () => ({ requestId: newId() });

/** Staff routes that move an account's money, or decide about it or its person. Nobody may call them for themselves. */
const DECIDING: Record<string, (own: Own) => Call> = {
  acceptProviderLine: ({ lineId }) => ({
    params: { provider: 'stripe', lineId },
    body: { reason: 'because of it', ...asked() },
  }),
  adjustAccount: ({ accountId, ticketId }) => ({
    body: { accountId, ticketId, amount: '1', reason: 'goodwill', note: 'because of it', ...asked() },
  }),
  answerTicket: ({ ticketId }) => ({ params: { ticketId }, body: { body: 'x' } }),
  assignTicket: ({ ticketId }) => ({ params: { ticketId }, body: { assigneeId: null } }),
  askForAccountDeletion: ({ ticketId }) => ({
    params: { ticketId },
    body: { reason: 'because of it', forfeitBalance: true, ...asked() },
  }),
  bookProviderLine: ({ lineId }) => ({
    params: { provider: 'stripe', lineId },
    body: { note: 'because of it' },
  }),
  cancelAccountDeletion: ({ accountId }) => ({ params: { accountId }, body: { reason: 'because of it' } }),
  closeSupportTicket: ({ ticketId }) => ({ params: { ticketId } }),
  confirmTopupRefund: ({ refundId }) => ({
    params: { refundId },
    body: { outcome: 'failed', note: 'because of it' },
  }),
  creditSuspense: ({ accountId, itemId }) => ({
    params: { itemId },
    body: { accountId, note: 'because of it', ...asked() },
  }),
  expenseSuspense: ({ orderItemId }) => ({
    params: { itemId: orderItemId },
    body: { note: 'because of it' },
  }),
  freezeAccount: ({ accountId }) => ({ params: { accountId }, body: { reason: 'because of it' } }),
  grantGroup: ({ accountId }) => ({ params: { accountId, group: 'Public-Relay' }, body: {} }),
  grantResellerRate: ({ ticketId }) => ({ params: { ticketId }, body: asked() }),
  limitAccount: ({ accountId }) => ({ params: { accountId }, body: { requestsPerMinute: 1000 } }),
  matchBankLine: ({ bankLineId, topupId }) => ({
    params: { bankLineId },
    body: { kind: 'topup', subject: topupId, note: 'because of it' },
  }),
  recordTransfer: ({ accountId }) => ({
    body: { accountId, paymentId: newId(), paid: '13', currency: 'USD', reason: 'because of it', ...asked() },
  }),
  refundCharge: ({ ticketId, chargeId }) => ({
    params: { ticketId },
    body: { chargeId, amount: '0.1', reason: 'because of it', ...asked() },
  }),
  refundTopup: ({ topupId }) => ({ params: { topupId }, body: { reason: 'because of it', ...asked() } }),
  reopenSupportTicket: ({ ticketId }) => ({ params: { ticketId } }),
  returnSuspense: ({ orderItemId }) => ({ params: { itemId: orderItemId }, body: { note: 'because of it' } }),
  reverseAdjustment: ({ adjustmentId }) => ({
    params: { adjustmentId },
    body: { note: 'because of it', ...asked() },
  }),
  reverseWriteOff: ({ writeOffId }) => ({
    params: { writeOffId },
    body: { note: 'because of it', ...asked() },
  }),
  revokeSessionsOfAccount: ({ accountId }) => ({ params: { accountId } }),
  setAccountRate: ({ accountId }) => ({
    params: { accountId },
    body: { rate: '1.3', reason: 'because of it', ...asked() },
  }),
  undoBankMatch: ({ matchedLineId }) => ({
    params: { bankLineId: matchedLineId },
    body: { note: 'because of it' },
  }),
  unfreezeAccount: ({ accountId }) => ({ params: { accountId }, body: { note: 'because of it' } }),
  withdrawGroup: ({ accountId }) => ({ params: { accountId, group: 'Public-Relay' } }),
  writeOffDebt: ({ accountId, ticketId }) => ({
    body: { accountId, ticketId, note: 'because of it', ...asked() },
  }),
};

/** Routes about a person. Nobody may call them for themselves. `duties` has what they refuse to someone's creator. */
const OF_PEOPLE: Record<string, object | undefined> = {
  removePersonTotp: undefined,
  setPersonDisabled: { disabled: false },
  setRoles: { roles: ['finance'] },
};

/** What else staff may change, and why it decides nothing about an account by itself. */
const OTHERS: Record<string, string> = {
  acknowledgeFinding: 'says that a finding was seen',
  approve: 'refuses the own account, and what one asked for',
  cancelPriceProposal: 'changes no price',
  changeChannel: 'is of the catalog, and new routes need two people',
  changeGroup: 'is of the catalog',
  changeModel: 'is of the catalog',
  checkPeriod: 'reads the books',
  closePeriod: 'closes the books',
  confirmPriceProposal: 'is of all accounts, and large changes need two people',
  createChannel: 'is of the catalog, and its routes need two people',
  createGroup: 'is of the catalog',
  createModel: 'is of the catalog',
  endAccountView: 'looks at an account no more',
  fetchProviderReports: 'asks a provider for its reports',
  importBankFile: 'tells what a bank says',
  importPrices: 'proposes prices',
  importPricesCsv: 'proposes prices',
  importStripeReport: 'tells what a provider says',
  importUpstreamCosts: 'tells what upstreams cost',
  proposePrices: 'proposes prices',
  proposeVendorPrices: 'proposes prices, and adds models that are not for sale',
  reject: 'refuses the own account, and what one asked for',
  replayDeadLetter: 'delivers a message again',
  revisePriceProposal: 'proposes prices',
  runControls: 'reads the books',
  saveBankAccount: 'says how files of a bank are read',
  setGroupModels: 'is of the catalog',
  setUpstreamCost: 'tells what upstreams cost',
  recordUpstreamBill: 'tells what upstreams cost',
  testChannel: 'calls an upstream',
  viewAccount: 'looks at an account',
  askPeriodWaiver: 'waits for a second person',
};

let relay: Relay;
let everything: Person;
let own: Own;

beforeAll(async () => {
  relay = await startRelay();
  const customer = await relay.customer('50');
  const roles = ['support', 'finance', 'admin'] as const;
  everything = await person(relay, { roles, accountId: customer.accountId });
  own = { ...(await openedThings()), chargeId: await paidCharge(relay, customer) };
});
afterAll(() => relay?.close());

async function openedThings(): Promise<Omit<Own, 'chargeId'>> {
  const { accountId, userId } = everything;
  const { billing, owner } = relay.fixture;
  const ticket = await everything.api.POST('/api/tickets', {
    body: { kind: 'reseller_rate', subject: 'Mine', body: 'For me.' },
  });
  const ticketId = ticket.data!.id;
  const bought = priceCredits(parseAmount('10'), '1.3');
  const paymentId = `pi_${newId()}`;
  const terms = { ...bought, accountId, rate: '1.3', currency: 'USD' } as const;
  const { topupId } = await recordTopup(billing, { ...terms, provider: 'manual', paymentId });
  await recordTopup(billing, { ...terms, provider: 'stripe', paymentId });
  const by = { requestedBy: 'user:somebody', approvedBy: null, requestId: newId() };
  return inTransaction(billing, async (client) => {
    const refund = await beginTopupRefund(client, {
      topupId,
      credits: parseAmount('1'),
      reason: 'x',
      actor: 'user:somebody',
      requestId: newId(),
    });
    const amount = parseAmount('1');
    const made = await adjust(client, {
      accountId,
      ticketId,
      amount,
      reason: 'goodwill',
      note: 'because of it',
      ...by,
    });
    const writeOffId = newId();
    await client.query(
      `INSERT INTO write_offs (id, account_id, period, amount, note, ticket_id, requested_by, alone_limit, request_id,
         transaction_id) VALUES ($1, $2, '2026-01', 1, 'x', $3, 'user:somebody', 1, $1, $4)`,
      [writeOffId, accountId, ticketId, made.transactionId],
    );
    const orderId = newId();
    await owner.query(
      `INSERT INTO topup_orders (id, account_id, credits, paid_minor, currency, rate, provider, request_id, request, expires_at,
         next_check_at) VALUES ($1, $2, 10000000000, 1300, 'USD', 1.3, 'manual', $1, '{}', now(), now() + interval '1 day')`,
      [orderId, accountId],
    );
    const money = { provider: 'manual', currency: 'USD', amountMinor: 1300n } as const;
    const item = await bookSuspense(
      client,
      { ...money, reference: newId(), orderId: null, why: 'no_order' },
      'USD',
    );
    const ofOrder = await bookSuspense(
      client,
      { ...money, reference: newId(), orderId, why: 'other_amount' },
      'USD',
    );
    return {
      ...(await linesAtBank(owner, refund.id)),
      accountId,
      userId,
      ticketId,
      topupId,
      refundId: refund.id,
      adjustmentId: made.id,
      writeOffId,
      itemId: item.itemId,
      orderItemId: ofOrder.itemId,
      lineId: await lineOfPayment(owner, paymentId),
    };
  });
}

describe('everything that staff may change', () => {
  it('is known to decide about an account, or not to', async () => {
    const routes = await routesOf(relay);
    const ofStaff = routes.filter(
      ({ access, isUnsafe }) => isUnsafe && access !== 'public' && !access.includes('user'),
    );
    const unknown = ofStaff
      .map(({ id }) => id)
      .filter((id) => ![DECIDING, OF_PEOPLE, OTHERS].some((list) => id in list));
    expect(unknown).toEqual([]);
    const gone = Object.keys({ ...DECIDING, ...OF_PEOPLE, ...OTHERS }).filter(
      (id) => !ofStaff.some((route) => route.id === id),
    );
    expect(gone).toEqual([]);
  });

  it.each(Object.keys(DECIDING))('%s is refused to somebody for their own account', async (id) => {
    const route = (await routesOf(relay)).find((each) => each.id === id)!;
    const { params, body } = DECIDING[id]!(own);
    const response = await everything.send(urlOf(route, params), requestOf(route, body));
    const answer = (await response.json()) as { error?: { code: string; message: string } };
    expect({ id, status: response.status, ...answer.error }).toMatchObject({
      id,
      status: 409,
      code: 'second_person_required',
    });
  });

  it.each(Object.entries(OF_PEOPLE))('%s is refused to somebody for themselves', async (id, body) => {
    const route = (await routesOf(relay)).find((each) => each.id === id)!;
    const url = urlOf(route, { userId: everything.userId });
    const response = await everything.send(url, requestOf(route, body));
    const { error } = (await response.json()) as { error?: { message: string } };
    expect({ status: response.status, message: error?.message }).toEqual({
      status: 403,
      message: 'Another administrator must do this for you.',
    });
  });
});
