import { z } from 'zod';
import { roles } from '#identity/role.js';
import { id, pageOf, pageQuery, timeView } from '#platform/http/fields.js';
import { personView } from '#people/people.fields.js';
import { route } from '../http/route.js';

const tag = 'People';
const params = z.strictObject({ userId: id });

export const peopleRoutes = {
  list: route({
    id: 'listPeople',
    method: 'GET',
    path: '/api/admin/people',
    tag,
    summary: 'People, the newest first.',
    access: ['admin'],
    query: z.strictObject({
      ...pageQuery,
      email: z
        .string()
        .trim()
        .toLowerCase()
        .min(1)
        .max(254)
        .optional()
        .meta({ description: 'What the e-mail address begins with.' }),
      role: z.enum(roles).optional(),
    }),
    answer: pageOf(personView),
  }),
  setRoles: route({
    id: 'setRoles',
    method: 'PUT',
    path: '/api/admin/people/{userId}/roles',
    tag,
    summary: 'Asks for roles and takes roles away: those named, and no others; everybody is a user.',
    description:
      'What is taken away goes at once; what is new waits for another administrator: see the approvals. Not for oneself, and one administrator remains. The first administrator ever names the second one alone.',
    access: ['admin'],
    confirms: true,
    params,
    body: z.strictObject({ roles: z.array(z.enum(roles)).max(roles.length) }),
    answer: personView.extend({
      approvalId: z.string().nullable().meta({ description: 'What another administrator decides.' }),
    }),
    refusals: ['conflict'],
  }),
  setDisabled: route({
    id: 'setPersonDisabled',
    method: 'PUT',
    path: '/api/admin/people/{userId}/disabled',
    tag,
    summary: 'Blocks sign-in for a person and ends all sessions, or allows it again.',
    access: ['admin'],
    confirms: true,
    params,
    body: z.strictObject({ disabled: z.boolean() }),
    answer: personView,
    refusals: ['second_person_required', 'conflict'],
  }),
  removeTotp: route({
    id: 'removePersonTotp',
    method: 'DELETE',
    path: '/api/admin/people/{userId}/totp',
    tag,
    summary: 'Removes a lost device and its recovery codes, and ends all sessions.',
    access: ['admin'],
    confirms: true,
    params,
    answer: personView,
    refusals: ['second_person_required'],
  }),
};

const auditView = z
  .object({
    id: z.string(),
    actor: z.string(),
    actorEmail: z
      .string()
      .nullable()
      .meta({ description: 'Of the person who did it, today; the log itself has ids only.' }),
    action: z.string(),
    subject: z.string(),
    accountId: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
    requestId: z.string().nullable(),
    recordedAt: timeView,
  })
  .meta({ id: 'AuditEntry' });

const word = z.string().min(1).max(200).optional();

export const auditRoutes = {
  list: route({
    id: 'listAuditLog',
    method: 'GET',
    path: '/api/admin/audit-log',
    tag: 'Audit log',
    summary: 'What operators changed, and what people changed about their own access, the newest first.',
    access: ['admin'],
    query: z.strictObject({
      ...pageQuery,
      subject: word.meta({ description: 'Such as `user:{id}`, `account:{id}` or `model:{id}`.' }),
      actor: word.meta({ description: '`user:{id}`, `cli:{login}` or `system`.' }),
      accountId: id.optional(),
      action: word,
    }),
    answer: pageOf(auditView),
  }),
};
