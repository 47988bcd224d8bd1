import { z } from 'zod';
import { queryFlag, id, name, timeView } from '#platform/http/fields.js';
import {
  email,
  linkToken,
  mailLanguage,
  newPassword,
  oneTimeCode,
  password,
  rolesView,
} from '#people/people.fields.js';
import { routesFor } from '../http/route.js';

export const sessionView = z
  .object({
    userId: z.string(),
    accountId: z.string(),
    email: z.string(),
    roles: rolesView,
    language: mailLanguage
      .nullable()
      .describe('The language of your emails. Null if never chosen, which means English.'),
    csrfToken: z
      .string()
      .describe('Send it in the header `x-csrf-token` with every request that changes something.'),
    viewing: z
      .object({ accountId: z.string(), name: z.string(), until: timeView })
      .nullable()
      .describe(
        'The account that a member of staff is viewing. Until the given time the GET routes for customers answer for it, and all other requests are refused.',
      ),
    secondFactor: z
      .enum(['on', 'off', 'advised', 'required'])
      .describe('`on`: sign-in asks for a code. `required`: a device must be enrolled before anything else.'),
  })
  .meta({ id: 'Session' });

const listedSessionView = z
  .object({
    sessionId: id,
    isCurrent: z.boolean(),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    createdAt: timeView,
    lastSeenAt: timeView,
    expiresAt: timeView,
  })
  .meta({ id: 'ListedSession' });

const forUsers = routesFor(['user'], 'Session');
const forAll = routesFor('public', 'Session');

export const sessionRoutes = {
  show: forUsers.get('getSession', '/api/session', {
    summary: 'Get the current session.',
    underView: 'own',
    beforeSecondFactor: true,
    answer: sessionView,
  }),
  confirm: forUsers.post('confirmSession', '/api/session/confirm', {
    summary: 'Confirm your identity before a sensitive action.',
    description:
      'Routes marked `x-confirms` answer `confirmation_required` if the session has not signed in or confirmed recently. Send a code from your device or a recovery code; without a device, your password.',
    underView: 'own',
    beforeSecondFactor: true,
    body: z.strictObject({ code: oneTimeCode.optional(), password: password.optional() }),
    refusals: ['too_many_attempts'],
  }),
  signUp: forAll.post('signUp', '/api/public/sign-ups', {
    summary: 'Sign up. Sends an email with a link to set a password.',
    description:
      'The answer does not reveal whether the address has an account; the email does. An invite code is accepted only here and cannot be added later.',
    body: z.strictObject({
      email,
      inviteCode: z.string().trim().min(1).max(40).optional(),
      language: mailLanguage.optional().describe('The language of this and later emails.'),
    }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  confirmSignUp: forAll.post('confirmSignUp', '/api/public/sign-ups/confirm', {
    summary: 'Create the account with the link from the email, set its password and sign in.',
    body: z.strictObject({ token: linkToken, password: newPassword, name: name.optional() }),
    answer: sessionView,
    status: 201,
  }),
  signIn: forAll.post('signIn', '/api/public/sign-in', {
    summary: 'Sign in. The session is a cookie.',
    description:
      'If a device is enrolled, the answer is `totp_required`: send the request again with a code.',
    body: z.strictObject({
      email,
      password,
      code: oneTimeCode.optional(),
      cancelDeletion: z
        .boolean()
        .optional()
        .describe(
          'Cancels the pending deletion of the account. Required after the answer `account_closing`.',
        ),
    }),
    answer: sessionView,
    refusals: ['sign_in_failed', 'totp_required', 'account_closing', 'too_many_attempts'],
  }),
  signOut: forUsers.post('signOut', '/api/sign-out', {
    summary: 'Sign out.',
    beforeSecondFactor: true,
    underView: 'own',
  }),
  list: forUsers.get('listSessions', '/api/sessions', {
    summary: 'List your sessions, last used first.',
    underView: 'refused',
    answer: z.object({ items: z.array(listedSessionView) }),
  }),
  revoke: forUsers.delete('revokeSession', '/api/sessions/{sessionId}', {
    summary: 'End one of your sessions.',
  }),
  revokeAll: forUsers.delete('revokeSessions', '/api/sessions', {
    summary: 'End all your sessions, or all others.',
    query: z.strictObject({ keepThis: queryFlag('Keep the current session.') }),
    answer: z.object({ revoked: z.int() }),
  }),
};

export const passwordRoutes = {
  requestReset: forAll.post('requestPasswordReset', '/api/public/password-resets', {
    summary: 'Send an email with a link to set a new password, if the address has an account.',
    body: z.strictObject({ email }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  reset: forAll.post('resetPassword', '/api/public/password-resets/confirm', {
    summary: 'Set a new password with the link, end all sessions and sign in.',
    body: z.strictObject({ token: linkToken, password: newPassword, code: oneTimeCode.optional() }),
    answer: sessionView,
    refusals: ['sign_in_failed', 'totp_required', 'too_many_attempts'],
  }),
  change: forUsers.post('changePassword', '/api/password', {
    summary: 'Change the password and end all other sessions.',
    confirms: true,
    body: z.strictObject({ currentPassword: password, newPassword }),
    refusals: ['too_many_attempts', 'conflict'],
  }),
};

export const emailRoutes = {
  request: forUsers.post('requestEmailChange', '/api/email-changes', {
    summary: 'Send a confirmation link to a new email address.',
    description:
      'The answer does not reveal whether the address is taken; the email does. The old address gets a notice once the link has been opened.',
    confirms: true,
    body: z.strictObject({ email, password }),
    status: 202,
    refusals: ['too_many_attempts', 'conflict'],
  }),
  setLanguage: forUsers.put('setMailLanguage', '/api/mail-language', {
    summary: 'Set the language of your emails.',
    body: z.strictObject({ language: mailLanguage }),
  }),
  confirm: forAll.post('confirmEmailChange', '/api/public/email-changes/confirm', {
    summary: 'Switch to the new address with the link from the email. Sessions continue.',
    body: z.strictObject({ token: linkToken }),
    answer: z.object({ email: z.string() }),
  }),
};

const codesView = z
  .object({
    recoveryCodes: z.array(z.string()).describe('Each code works once. They are shown only in this answer.'),
  })
  .meta({ id: 'RecoveryCodes' });

export const totpRoutes = {
  show: forUsers.get('getTotp', '/api/totp', {
    summary: 'Get whether two-factor authentication is on.',
    beforeSecondFactor: true,
    underView: 'refused',
    answer: z.object({ enabled: z.boolean(), recoveryCodesLeft: z.int() }),
  }),
  enrol: forUsers.post('enrolTotp', '/api/totp/enrolment', {
    summary: 'Start enrolling a device. It takes effect once you confirm a code.',
    beforeSecondFactor: true,
    body: z.strictObject({ password }),
    answer: z.object({ secret: z.string(), uri: z.string() }),
    refusals: ['too_many_attempts', 'conflict'],
  }),
  confirm: forUsers.post('confirmTotp', '/api/totp/confirm', {
    summary: 'Confirm the device with a code, which turns on two-factor authentication.',
    beforeSecondFactor: true,
    body: z.strictObject({ code: z.string().regex(/^\d{6}$/, 'must be six digits') }),
    answer: codesView,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  renewCodes: forUsers.post('renewRecoveryCodes', '/api/totp/recovery-codes', {
    summary: 'Replace all recovery codes.',
    confirms: true,
    body: z.strictObject({ password }),
    answer: codesView,
    refusals: ['too_many_attempts', 'conflict'],
  }),
  disable: forUsers.post('disableTotp', '/api/totp/disable', {
    summary: 'Turn off two-factor authentication.',
    confirms: true,
    body: z.strictObject({ password }),
    refusals: ['too_many_attempts'],
  }),
};
