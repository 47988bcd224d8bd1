import { z } from 'zod';
import { amount, amountView, id, name, pageOf, pageQuery, timeView } from '#platform/http/fields.js';
import { accountView } from '#people/accounts/account.view.js';
import { personView } from '#people/people.fields.js';
import { route } from '../http/route.js';
import { keyView } from '../keys/key.view.js';

const positive = amount.refine((value) => value > 0n, 'must be above 0');

export const accountRoutes = {
  show: route({
    id: 'getAccount',
    method: 'GET',
    path: '/api/account',
    tag: 'Account',
    summary: 'Your account and its balances.',
    access: ['user'],
    answer: accountView,
  }),
  change: route({
    id: 'changeAccount',
    method: 'PATCH',
    path: '/api/account',
    tag: 'Account',
    summary: 'Changes what is named and leaves the rest.',
    description:
      'You get an e-mail when a call takes the balance below the threshold: once, until credits bring it back above.',
    access: ['user'],
    body: z.strictObject({
      name: name.optional(),
      lowBalanceThreshold: positive.nullable().optional(),
      monthlyLimit: amount.nullable().optional(),
    }),
    answer: accountView,
  }),
};

const tag = 'Support: accounts';
const staff = ['support', 'admin'] as const;
const params = z.strictObject({ accountId: id });
const words = z
  .string()
  .trim()
  .min(3, 'must say why')
  .max(500)
  .refine((text) => text.toLowerCase() !== 'debt', 'must say why in words');

const foundView = z
  .object({
    accountId: id,
    name: z.string(),
    email: z.string().nullable(),
    main: amountView,
    frozen: z.boolean(),
    createdAt: timeView,
  })
  .meta({ id: 'FoundAccount' });

export const supportRoutes = {
  search: route({
    id: 'searchAccounts',
    method: 'GET',
    path: '/api/support/accounts',
    tag,
    summary: 'Finds accounts, the newest first.',
    description:
      'By the id of an account, a person or a key, by how a key begins (`sk-tg-…`), or by how the e-mail address or the ' +
      'name begins. Without a query: all.',
    access: staff,
    query: z.strictObject({ ...pageQuery, query: z.string().trim().min(2).max(254).optional() }),
    answer: pageOf(foundView),
  }),
  show: route({
    id: 'getAnyAccount',
    method: 'GET',
    path: '/api/support/accounts/{accountId}',
    tag,
    summary: 'An account as its owner sees it, with its person and keys.',
    access: staff,
    params,
    answer: z.object({ account: accountView, person: personView.nullable(), keys: z.array(keyView) }),
  }),
  freeze: route({
    id: 'freezeAccount',
    method: 'POST',
    path: '/api/support/accounts/{accountId}/freeze',
    tag,
    summary: 'Freezes an account: every call that is charged from now on is refused.',
    access: staff,
    params,
    body: z.strictObject({ reason: words.meta({ description: 'The owner reads it.' }) }),
    answer: accountView,
    refusals: ['second_person_required'],
  }),
  unfreeze: route({
    id: 'unfreezeAccount',
    method: 'POST',
    path: '/api/support/accounts/{accountId}/unfreeze',
    tag,
    summary: 'Lifts a freeze, but not that of a balance below zero: only credits do.',
    access: staff,
    params,
    body: z.strictObject({ note: words.meta({ description: 'For the audit log.' }) }),
    answer: accountView,
    refusals: ['second_person_required', 'conflict'],
  }),
  revokeSessions: route({
    id: 'revokeSessionsOfAccount',
    method: 'DELETE',
    path: '/api/support/accounts/{accountId}/sessions',
    tag,
    summary: 'Ends every session of the person of an account.',
    access: staff,
    params,
    answer: z.object({ revoked: z.number().int() }),
    refusals: ['second_person_required'],
  }),
};
