import { z } from 'zod';
import { creditAmount, id, name, pageOf, pageQuery } from '#platform/http/fields.js';
import { accountView, foundAccountView } from '#people/accounts/account.view.js';
import { personView } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';
import { keyView } from '../keys/key.view.js';

const positive = creditAmount.refine((value) => value > 0n, 'must be above 0');

const forUsers = routesFor(['user'], 'Account');
const forStaff = routesFor(['support', 'admin'], 'Support: accounts');

export const accountRoutes = {
  show: forUsers.get('getAccount', '/api/account', {
    summary: 'Get your account and its balances.',
    answer: accountView,
  }),
  change: forUsers.patch('changeAccount', '/api/account', {
    summary: 'Change only the fields given.',
    description:
      'You get an e-mail when a call takes the balance below the threshold: once, until credits bring it back above.',
    body: z.strictObject({
      name: name.optional(),
      lowBalanceThreshold: positive.nullable().optional(),
      monthlyLimit: creditAmount.nullable().optional(),
    }),
    answer: accountView,
  }),
};
const params = z.strictObject({ accountId: id });
const words = z
  .string()
  .trim()
  .min(3, 'must say why')
  .max(500)
  .refine((text) => text.toLowerCase() !== 'debt', 'must say why in words');

export const supportRoutes = {
  search: forStaff.get('searchAccounts', '/api/support/accounts', {
    summary: 'Search accounts, newest first.',
    description:
      'By the id of an account, a person or a key, by how a key begins (`sk-tg-…`), or by how the e-mail address or the ' +
      'name begins. Without a query: all.',
    query: z.strictObject({ ...pageQuery, query: z.string().trim().min(2).max(254).optional() }),
    answer: pageOf(foundAccountView),
  }),
  show: forStaff.get('getAnyAccount', '/api/support/accounts/{accountId}', {
    summary: 'Get an account as its owner sees it, with its person and keys.',
    params,
    answer: z.object({ account: accountView, person: personView.nullable(), keys: z.array(keyView) }),
  }),
  freeze: forStaff.post('freezeAccount', '/api/support/accounts/{accountId}/freeze', {
    summary: 'Freeze an account: all new paid calls are refused.',
    params,
    body: z.strictObject({ reason: words.meta({ description: 'The owner reads it.' }) }),
    answer: accountView,
    refusals: ['second_person_required'],
  }),
  unfreeze: forStaff.post('unfreezeAccount', '/api/support/accounts/{accountId}/unfreeze', {
    summary: 'Unfreeze an account. If its balance is below zero, only credits do that.',
    params,
    body: z.strictObject({ note: words.meta({ description: 'For the audit log.' }) }),
    answer: accountView,
    refusals: ['second_person_required', 'conflict'],
  }),
  revokeSessions: forStaff.delete('revokeSessionsOfAccount', '/api/support/accounts/{accountId}/sessions', {
    summary: 'End all sessions of an account’s person.',
    params,
    answer: z.object({ revoked: z.number().int() }),
    refusals: ['second_person_required'],
  }),
};
