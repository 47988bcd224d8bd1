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
    summary: 'Who is signed in.',
    underView: 'own',
    beforeSecondFactor: true,
    answer: sessionView,
  }),
  confirm: forUsers.post('confirmSession', '/api/session/confirm', {
    summary: 'Proves that it is you, before what a stolen session must not do.',
    description:
      'Routes marked `x-confirms` answer `confirmation_required` to a session that did not sign in or prove itself lately. ' +
      'Send a code of your device or a recovery code; without a device, your password.',
    underView: 'own',
    beforeSecondFactor: true,
    body: z.strictObject({ code: oneTimeCode.optional(), password: password.optional() }),
    refusals: ['too_many_attempts'],
  }),
  signUp: forAll.post('signUp', '/api/public/sign-ups', {
    summary: 'Asks for an account: a link comes by mail, where the password is chosen.',
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
    summary: 'Opens the account by the link of the mail, sets its password and signs in.',
    body: z.strictObject({ token: linkToken, password: newPassword, name: name.optional() }),
    answer: sessionView,
    status: 201,
  }),
  signIn: forAll.post('signIn', '/api/public/sign-in', {
    summary: 'Signs in; the session is a cookie.',
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
    summary: 'Ends this session.',
    beforeSecondFactor: true,
    underView: 'own',
  }),
  list: forUsers.get('listSessions', '/api/sessions', {
    summary: 'Where you are signed in, the last used first.',
    underView: 'refused',
    answer: z.object({ items: z.array(listedSessionView) }),
  }),
  revoke: forUsers.delete('revokeSession', '/api/sessions/{sessionId}', {
    summary: 'Ends one of your sessions.',
    params: z.strictObject({ sessionId: id }),
  }),
  revokeAll: forUsers.delete('revokeSessions', '/api/sessions', {
    summary: 'Ends all your sessions, this one included; or all others.',
    query: z.strictObject({ keepThis: z.enum(['true', 'false']).default('false') }),
    answer: z.object({ revoked: z.number().int() }),
  }),
};

export const passwordRoutes = {
  requestReset: forAll.post('requestPasswordReset', '/api/public/password-resets', {
    summary: 'Mails a link to set a new password, if the address has an account.',
    body: z.strictObject({ email }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  reset: forAll.post('resetPassword', '/api/public/password-resets/confirm', {
    summary: 'Sets a new password by the link, ends all sessions and signs in.',
    body: z.strictObject({ token: linkToken, password: newPassword, code: oneTimeCode.optional() }),
    answer: sessionView,
    refusals: ['sign_in_failed', 'totp_required', 'too_many_attempts'],
  }),
  change: forUsers.post('changePassword', '/api/password', {
    summary: 'Sets a new password and ends all other sessions.',
    confirms: true,
    body: z.strictObject({ currentPassword: password, newPassword }),
    refusals: ['too_many_attempts', 'conflict'],
  }),
};

export const emailRoutes = {
  request: forUsers.post('requestEmailChange', '/api/email-changes', {
    summary: 'Mails a link to another e-mail address of yours, which takes it over.',
    description:
      'The answer is the same whether the address is taken or not; the mail says which. The old address gets a notice once ' +
      'the link was followed.',
    confirms: true,
    body: z.strictObject({ email, password }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  setLanguage: forUsers.put('setMailLanguage', '/api/mail-language', {
    summary: 'Chooses the language of your mail.',
    body: z.strictObject({ language: mailLanguage }),
  }),
  confirm: forAll.post('confirmEmailChange', '/api/public/email-changes/confirm', {
    summary: 'Takes the new address over by the link of the mail. Sessions go on.',
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
    summary: 'Whether one-time codes are asked for at sign-in.',
    beforeSecondFactor: true,
    underView: 'refused',
    answer: z.object({ enabled: z.boolean(), recoveryCodesLeft: z.number().int() }),
  }),
  enrol: forUsers.post('enrolTotp', '/api/totp/enrolment', {
    summary: 'Begins to enrol a device: a secret for it, in force once a code of it was confirmed.',
    beforeSecondFactor: true,
    body: z.strictObject({ password }),
    answer: z.object({ secret: z.string(), uri: z.string() }),
    refusals: ['too_many_attempts', 'conflict'],
  }),
  confirm: forUsers.post('confirmTotp', '/api/totp/confirm', {
    summary: 'Confirms the device by a code; from now on codes are asked for.',
    beforeSecondFactor: true,
    body: z.strictObject({ code: z.string().regex(/^\d{6}$/, 'must be six digits') }),
    answer: codesView,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  renewCodes: forUsers.post('renewRecoveryCodes', '/api/totp/recovery-codes', {
    summary: 'New recovery codes in place of all before.',
    confirms: true,
    body: z.strictObject({ password }),
    answer: codesView,
    refusals: ['too_many_attempts', 'conflict'],
  }),
  disable: forUsers.post('disableTotp', '/api/totp/disable', {
    summary: 'Stops asking for codes.',
    confirms: true,
    body: z.strictObject({ password }),
    refusals: ['too_many_attempts'],
  }),
};
