import { z } from 'zod';
import { auditActions } from '#identity/audit-actions.js';
import { roles } from '#identity/role.js';
import { auditView } from '#people/audit.reader.js';
import { asRead, id } from '#platform/http/fields.js';
import { personView } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';

const forAdmins = routesFor(['admin'], 'People');
const forAdminsOfAuditLog = routesFor(['admin'], 'Audit log');

const givenRoles = z.strictObject({ roles: z.array(z.enum(roles)).max(roles.length) });

export const peopleRoutes = {
  list: forAdmins.list(personView)('listPeople', '/api/admin/people', {
    summary: 'List people, newest first.',
    query: {
      email: z
        .string()
        .trim()
        .toLowerCase()
        .min(1)
        .max(254)
        .optional()
        .describe('The beginning of the email address.'),
      role: z.enum(roles).optional(),
    },
  }),
  setRoles: forAdmins.put('setRoles', '/api/admin/people/{userId}/roles', {
    summary: 'Set the staff roles of a person. New roles need approval.',
    description:
      'Roles are removed immediately; new roles wait for the approval of another administrator. You cannot change your own roles, and one administrator must remain. The first administrator can appoint the second one alone.',
    confirms: true,
    body: givenRoles.extend({ was: asRead(givenRoles) }),
    answer: personView.extend({
      approvalId: z.string().nullable().describe('The approval that another administrator has to give.'),
    }),
    refusals: ['conflict'],
  }),
  setDisabled: forAdmins.put('setPersonDisabled', '/api/admin/people/{userId}/disabled', {
    summary: 'Block sign-in for a person and end all sessions, or allow it again.',
    confirms: true,
    body: z.strictObject({ disabled: z.boolean() }),
    answer: personView,
    refusals: ['second_person_required', 'conflict'],
  }),
  removeTotp: forAdmins.delete('removePersonTotp', '/api/admin/people/{userId}/totp', {
    summary: 'Remove a lost device and its recovery codes, and end all sessions.',
    confirms: true,
    answer: personView,
    refusals: ['second_person_required'],
  }),
};

const word = z.string().min(1).max(200).optional();

export const auditRoutes = {
  list: forAdminsOfAuditLog.list(auditView)('listAuditLog', '/api/admin/audit-log', {
    summary: 'List the audit log: changes by staff and by people to their own access, newest first.',
    query: {
      subject: word.describe('Such as `user:{id}`, `account:{id}` or `model:{id}`.'),
      actor: word.describe('`user:{id}`, `cli:{login}` or `system`.'),
      accountId: id.optional(),
      action: z.enum(auditActions).optional(),
    },
  }),
};
