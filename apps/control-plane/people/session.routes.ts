import { z } from 'zod';
import { id, name, timeView } from '#platform/http/fields.js';
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
    language: mailLanguage.nullable().meta({ description: 'Of your mail; null: never chosen, and English.' }),
    csrfToken: z
      .string()
      .meta({ description: 'Goes into the header x-csrf-token of every request that changes something.' }),
    viewing: z.object({ accountId: z.string(), name: z.string(), until: timeView }).nullable().meta({
      description:
        'Whose account support looks at: until then GET routes of everybody answer for it, and the rest is refused.',
    }),
    secondFactor: z.enum(['on', 'off', 'advised', 'required']).meta({
      description:
        '`on`: codes of a device are asked for. `required`: nothing else is possible before a device is enrolled.',
    }),
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
      'Routes marked `x-confirms` answer `confirmation_required` to a session that did not sign in or prove itself lately. ' +
      'Send a code of your device or a recovery code; without a device, your password.',
    underView: 'own',
    beforeSecondFactor: true,
    body: z.strictObject({ code: oneTimeCode.optional(), password: password.optional() }),
    refusals: ['too_many_attempts'],
  }),
  signUp: forAll.post('signUp', '/api/public/sign-ups', {
    summary: 'Sign up: mails a link to set a password.',
    description:
      'The answer is the same whether the address has an account or not; the mail says which. An invite code is good only ' +
      'here: nobody can name an inviter later.',
    body: z.strictObject({
      email,
      inviteCode: z.string().trim().min(1).max(40).optional(),
      language: mailLanguage.optional().meta({ description: 'Of this mail and of those to come.' }),
    }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  confirmSignUp: forAll.post('confirmSignUp', '/api/public/sign-ups/confirm', {
    summary: 'Create the account with the mailed link, set its password and sign in.',
    body: z.strictObject({ token: linkToken, password: newPassword, name: name.optional() }),
    answer: sessionView,
    status: 201,
  }),
  signIn: forAll.post('signIn', '/api/public/sign-in', {
    summary: 'Sign in. The session is a cookie.',
    description: 'Where a device is enrolled, `totp_required` asks to send the same again with its code.',
    body: z.strictObject({
      email,
      password,
      code: oneTimeCode.optional(),
      cancelDeletion: z.boolean().optional().meta({
        description: 'Keeps an account whose deletion was asked for; `account_closing` asks for it.',
      }),
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
    params: z.strictObject({ sessionId: id }),
  }),
  revokeAll: forUsers.delete('revokeSessions', '/api/sessions', {
    summary: 'End all your sessions, or all others.',
    query: z.strictObject({ keepThis: z.enum(['true', 'false']).default('false') }),
    answer: z.object({ revoked: z.number().int() }),
  }),
};

export const passwordRoutes = {
  requestReset: forAll.post('requestPasswordReset', '/api/public/password-resets', {
    summary: 'Mail a link to set a new password, if the address has an account.',
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
    summary: 'Mail a link to a new email address, to confirm it.',
    description:
      'The answer is the same whether the address is taken or not; the mail says which. The old address gets a notice once ' +
      'the link was followed.',
    confirms: true,
    body: z.strictObject({ email, password }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  setLanguage: forUsers.put('setMailLanguage', '/api/mail-language', {
    summary: 'Set the language of your mail.',
    body: z.strictObject({ language: mailLanguage }),
  }),
  confirm: forAll.post('confirmEmailChange', '/api/public/email-changes/confirm', {
    summary: 'Switch to the new address with the mailed link. Sessions continue.',
    body: z.strictObject({ token: linkToken }),
    answer: z.object({ email: z.string() }),
  }),
};

const codesView = z
  .object({
    recoveryCodes: z.array(z.string()).meta({ description: 'Each is good once; they are shown this once.' }),
  })
  .meta({ id: 'RecoveryCodes' });

export const totpRoutes = {
  show: forUsers.get('getTotp', '/api/totp', {
    summary: 'Get whether two-factor authentication is on.',
    beforeSecondFactor: true,
    underView: 'refused',
    answer: z.object({ enabled: z.boolean(), recoveryCodesLeft: z.number().int() }),
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
