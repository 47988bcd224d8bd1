import { z } from 'zod';
import { creditAmount, name, timeView, reasonText } from '#platform/http/fields.js';
import { ticketStates } from '#support/ticket.entity.js';
import { accountView, foundAccountView } from '#people/accounts/account.view.js';
import { personView } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';
import { keyView } from '../keys/key.view.js';

const positive = creditAmount.refine((value) => value > 0n, 'must be above 0');

const forUsers = routesFor(['user'], 'Account');
const forStaff = routesFor(['support', 'admin'], 'Support: accounts');

/** Enough to recognize an account. Finance sees nothing else of an account that it looks up. */
const payingAccountView = foundAccountView
  .pick({ accountId: true, name: true, email: true })
  .meta({ id: 'PayingAccount' });

export const accountRoutes = {
  show: forUsers.get('getAccount', '/api/account', {
    summary: 'Get your account and its balances.',
    answer: accountView,
  }),
  change: forUsers.patch('changeAccount', '/api/account', {
    summary: 'Change the given fields of your account.',
    description:
      'You get one email when a call takes the balance below the threshold, and no other until credits bring it back above.',
    body: z.strictObject({
      name: name.optional(),
      lowBalanceThreshold: positive.nullable().optional(),
      monthlyLimit: creditAmount.nullable().optional(),
    }),
    answer: accountView,
    refusals: ['too_many_attempts'],
  }),
};

export const supportRoutes = {
  search: forStaff.list(foundAccountView)('searchAccounts', '/api/support/accounts', {
    summary: 'Search accounts, newest first.',
    description:
      'Searches by the ID of an account, person or key, or by the beginning of a key (`sk-tg-…`), email address or name. Finds at most 1,000 by address and 1,000 by name. Without a query, lists all accounts.',
    query: { query: z.string().trim().min(2).max(254).optional() },
  }),
  show: forStaff.get('getAnyAccount', '/api/support/accounts/{accountId}', {
    summary: 'Get an account as its owner sees it, with its person and keys.',
    answer: z.object({ account: accountView, person: personView.nullable(), keys: z.array(keyView) }),
  }),
  freeze: forStaff.post('freezeAccount', '/api/support/accounts/{accountId}/freeze', {
    summary: 'Freeze an account: all new paid calls are refused.',
    body: z.strictObject({ reason: reasonText.describe('Shown to the account owner.') }),
    answer: accountView,
    refusals: ['second_person_required'],
  }),
  unfreeze: forStaff.post('unfreezeAccount', '/api/support/accounts/{accountId}/unfreeze', {
    summary: 'Unfreeze an account. If its balance is below zero, only credits can unfreeze it.',
    body: z.strictObject({ note: reasonText.describe('Recorded in the audit log.') }),
    answer: accountView,
    refusals: ['second_person_required', 'conflict'],
  }),
  revokeSessions: forStaff.delete('revokeSessionsOfAccount', '/api/support/accounts/{accountId}/sessions', {
    summary: "End all sessions of an account's owner.",
    answer: z.object({ revoked: z.int() }),
    refusals: ['second_person_required'],
  }),
};

const forFinance = routesFor(['finance'], 'Finance');
const search = z.strictObject({ query: z.string().trim().min(3).max(254) });

const foundTicketView = z
  .object({
    ticketId: z.string(),
    accountId: z.string(),
    subject: z.string(),
    state: z.enum(ticketStates),
    createdAt: timeView,
  })
  .meta({ id: 'FoundTicket' });

export const financeSearchRoutes = {
  accounts: forFinance.get('findPayingAccounts', '/api/finance/accounts', {
    summary: 'Find accounts to record money for, newest first.',
    description:
      'Searches by the ID of an account, person or key, or by the beginning of a key, email address or name. Returns at most 10.',
    load: 'light',
    query: search,
    answer: z.object({ items: z.array(payingAccountView) }),
  }),
  tickets: forFinance.get('findTickets', '/api/finance/tickets', {
    summary: 'Find tickets to adjust a balance for, newest first.',
    description:
      'Searches by the ID of a ticket, a part of its subject, or its customer, as the search for accounts does. Returns at most 10. Only the subjects of the newest 5,000 tickets are searched.',
    load: 'light',
    query: search,
    answer: z.object({ items: z.array(foundTicketView) }),
  }),
};
