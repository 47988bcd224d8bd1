import { newId } from '#platform/ids.js';
import { proposal } from '../../console/support/staff.js';
import { type Person, person, visitor } from '../../support/console.js';
import {
  bankLine,
  closingAccount,
  debtor,
  enrolled,
  finding,
  inviter,
  mailed,
  newKey,
  readyExport,
  resellerTicket,
} from './made.js';
import { PASSWORD, type Things, type Values } from './things.js';

/** What an example needs beyond the usual: its own values, or another person who sends it. */
interface Prepared {
  values?: Values;
  as?: Person;
}

type Prepare = (things: Things) => Promise<Prepared>;

/** A value that is used up by this example alone. */
const own =
  (name: string, make: (things: Things) => Promise<string>): Prepare =>
  async (things) => ({ values: { [name]: await make(things) } });

const bySomeone: Prepare = async (things) => ({ as: await things.someone('5') });
const aboutSomeone: Prepare = async (things) => {
  const { accountId, userId } = await things.someone();
  return { values: { accountId, userId } };
};

const anOrder = own('orderId', (things) => things.order());
const aTicket = own('ticketId', (things) => things.ticket('question'));
const aClosedTicket = own('ticketId', async (things) => {
  const id = await things.ticket('question');
  await things.ask(things.you, `/api/tickets/${id}/close`, {});
  return id;
});
const aLine = own('lineId', (things) => things.lostPayment());

const aProposal = own('proposalId', ({ staff }) =>
  proposal(staff, [{ kind: 'price', model: 'vendora-imagine-video', price: { unitPrice: '0.051' } }]),
);

/** A new role, which another administrator has to approve. */
const anApproval = own('approvalId', async (things) => {
  const other = await person(things.relay, { roles: ['admin'] });
  const { userId } = await things.someone();
  const params = { path: { userId } };
  const body = { roles: ['user' as const, 'support' as const] };
  const { data } = await other.api.PUT('/api/admin/people/{userId}/roles', { params, body });
  return data!.approvalId!;
});

/** A payment that was posted without an order. */
const anItem = own('itemId', async (things) => {
  const lineId = await things.lostPayment();
  await things.ask(things.staff, `/api/finance/provider-lines/stripe/${lineId}/book`, { note: 'Lost.' });
  const { items } = await things.ask<{ items: { id: string }[] }>(
    things.staff,
    '/api/finance/suspense?state=open',
  );
  return items[0]!.id;
});

const aBankLine = own('bankLineId', bankLine);

export const prepared: Readonly<Record<string, Prepare>> = {
  // People.
  confirmSignUp: async (things) => {
    const email = `${newId()}@example.com`;
    await visitor(things.relay).POST('/api/public/sign-ups', { body: { email } });
    return { values: await mailed(things, email, /Finish signing up/) };
  },
  resetPassword: async (things) => {
    const { email } = await things.someone();
    await visitor(things.relay).POST('/api/public/password-resets', { body: { email } });
    return { values: await mailed(things, email, /password/i) };
  },
  confirmEmailChange: async (things) => {
    const someone = await things.someone();
    const email = `${newId()}@example.com`;
    await things.ask(someone, '/api/email-changes', { email, password: PASSWORD });
    return { values: await mailed(things, email, /.*/) };
  },
  changePassword: bySomeone,
  enrolTotp: bySomeone,
  confirmTotp: (things) => enrolled(things, false),
  renewRecoveryCodes: (things) => enrolled(things, true),
  disableTotp: (things) => enrolled(things, true),
  setRoles: aboutSomeone,
  setPersonDisabled: aboutSomeone,
  removePersonTotp: aboutSomeone,
  revokeSessions: bySomeone,
  revokeSession: async (things) => {
    const as = await things.someone();
    const { items } = await things.ask<{ items: { sessionId: string }[] }>(as, '/api/sessions');
    return { as, values: { sessionId: items[0]!.sessionId } };
  },
  // Accounts.
  deleteAccount: bySomeone,
  freezeAccount: aboutSomeone,
  setAccountRate: own('ticketId', resellerTicket),
  unfreezeAccount: own('accountId', async (things) => {
    const { accountId } = await things.someone();
    await things.ask(things.staff, `/api/support/accounts/${accountId}/freeze`, { reason: 'Unusual.' });
    return accountId;
  }),
  revokeSessionsOfAccount: aboutSomeone,
  askForAccountDeletion: aTicket,
  cancelAccountDeletion: own('accountId', closingAccount),
  downloadDataExport: own('exportId', readyExport),
  transferInviteBalance: async (things) => ({ as: await inviter(things) }),
  // Keys and webhooks.
  changeKey: own('keyId', newKey),
  deleteKey: own('keyId', newKey),
  changeWebhook: own('endpointId', (things) => things.endpoint()),
  deleteWebhook: own('endpointId', (things) => things.endpoint()),
  // Support.
  writeToTicket: aTicket,
  closeTicket: aTicket,
  reopenTicket: aClosedTicket,
  closeSupportTicket: aTicket,
  reopenSupportTicket: aClosedTicket,
  refundCharge: async (things) => ({
    values: { ticketId: await things.ticket('refund'), chargeId: await things.paidCharge() },
  }),
  grantResellerRate: own('ticketId', resellerTicket),
  getApproval: anApproval,
  approve: anApproval,
  reject: anApproval,
  // Prices.
  getPriceProposal: aProposal,
  previewPriceProposal: aProposal,
  revisePriceProposal: aProposal,
  confirmPriceProposal: aProposal,
  cancelPriceProposal: aProposal,
  // Money.
  cancelTopup: anOrder,
  showSandboxPayment: anOrder,
  paySandboxOrder: anOrder,
  cancelSandboxOrder: anOrder,
  refundTopup: async (things) => ({ values: await things.boughtTopup() }),
  confirmTopupRefund: own('refundId', async (things) => {
    const body = { credits: '1', reason: 'Asked for.', requestId: newId() };
    const path = `/api/finance/topups/${await things.transfer()}/refunds`;
    const other = await person(things.relay, { roles: ['finance'] });
    return (await things.ask<{ refund: { id: string } }>(other, path, body)).refund.id;
  }),
  creditSuspense: anItem,
  returnSuspense: anItem,
  expenseSuspense: own('itemId', (things) => things.takenMoney()),
  reverseAdjustment: own('adjustmentId', async (things) => {
    const [accountId, ticketId] = [things.you.accountId, await things.ticket('billing')];
    const body = {
      accountId,
      ticketId,
      amount: '0.5',
      reason: 'goodwill',
      note: 'Waited.',
      requestId: newId(),
    };
    const path = '/api/finance/adjustments';
    return (await things.ask<{ adjustment: { id: string } }>(things.staff, path, body)).adjustment.id;
  }),
  writeOffDebt: async (things) => ({ values: await debtor(things) }),
  reverseWriteOff: own('writeOffId', async (things) => {
    const body = { ...(await debtor(things)), note: 'Nobody answers.', requestId: newId() };
    const path = '/api/finance/write-offs';
    return (await things.ask<{ writeOff: { id: string } }>(things.staff, path, body)).writeOff.id;
  }),
  acknowledgeFinding: own('findingId', finding),
  readProviderLine: aLine,
  bookProviderLine: aLine,
  acceptProviderLine: own('lineId', async (things) => {
    const lineId = await things.lostPayment();
    return things.lostPayment(lineId, '14.00');
  }),
  matchBankLine: aBankLine,
  undoBankMatch: own('bankLineId', async (things) => {
    const id = await bankLine(things);
    await things.ask(things.staff, `/api/finance/bank-lines/${id}/match`, {
      kind: 'none',
      note: 'Not ours.',
    });
    return id;
  }),
};
