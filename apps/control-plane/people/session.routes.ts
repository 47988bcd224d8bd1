import { z } from 'zod';
import { id, name, timeView } from '#platform/http/fields.js';
import { email, linkToken, newPassword, oneTimeCode, password, rolesView } from '#people/people.fields.js';
import { route } from '../http/route.js';

export const sessionView = z
  .object({
    userId: z.string(),
    accountId: z.string(),
    email: z.string(),
    roles: rolesView,
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

const tag = 'Session';

export const sessionRoutes = {
  show: route({
    id: 'getSession',
    method: 'GET',
    path: '/api/session',
    tag,
    summary: 'Who is signed in.',
    access: ['user'],
    underView: 'own',
    beforeSecondFactor: true,
    answer: sessionView,
  }),
  confirm: route({
    id: 'confirmSession',
    method: 'POST',
    path: '/api/session/confirm',
    tag,
    summary: 'Proves that it is you, before what a stolen session must not do.',
    description:
      'Routes marked `x-confirms` answer `confirmation_required` to a session that did not sign in or prove itself lately. ' +
      'Send a code of your device or a recovery code; without a device, your password.',
    access: ['user'],
    underView: 'own',
    beforeSecondFactor: true,
    body: z.strictObject({ code: oneTimeCode.optional(), password: password.optional() }),
    refusals: ['too_many_attempts'],
  }),
  signUp: route({
    id: 'signUp',
    method: 'POST',
    path: '/api/public/sign-ups',
    tag,
    summary: 'Asks for an account: a link comes by mail, where the password is chosen.',
    description:
      'The answer is the same whether the address has an account or not; the mail says which. An invite code is good only ' +
      'here: nobody can name an inviter later.',
    access: 'public',
    body: z.strictObject({ email, inviteCode: z.string().trim().min(1).max(40).optional() }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  confirmSignUp: route({
    id: 'confirmSignUp',
    method: 'POST',
    path: '/api/public/sign-ups/confirm',
    tag,
    summary: 'Opens the account by the link of the mail, sets its password and signs in.',
    access: 'public',
    body: z.strictObject({ token: linkToken, password: newPassword, name: name.optional() }),
    answer: sessionView,
    status: 201,
  }),
  signIn: route({
    id: 'signIn',
    method: 'POST',
    path: '/api/public/sign-in',
    tag,
    summary: 'Signs in; the session is a cookie.',
    description: 'Where a device is enrolled, `totp_required` asks to send the same again with its code.',
    access: 'public',
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
  signOut: route({
    id: 'signOut',
    method: 'POST',
    path: '/api/sign-out',
    tag,
    summary: 'Ends this session.',
    access: ['user'],
    beforeSecondFactor: true,
    underView: 'own',
  }),
  list: route({
    id: 'listSessions',
    method: 'GET',
    path: '/api/sessions',
    tag,
    summary: 'Where you are signed in, the last used first.',
    access: ['user'],
    underView: 'refused',
    answer: z.object({ items: z.array(listedSessionView) }),
  }),
  revoke: route({
    id: 'revokeSession',
    method: 'DELETE',
    path: '/api/sessions/{sessionId}',
    tag,
    summary: 'Ends one of your sessions.',
    access: ['user'],
    params: z.strictObject({ sessionId: id }),
  }),
  revokeAll: route({
    id: 'revokeSessions',
    method: 'DELETE',
    path: '/api/sessions',
    tag,
    summary: 'Ends all your sessions, this one included; or all others.',
    access: ['user'],
    query: z.strictObject({ keepThis: z.enum(['true', 'false']).default('false') }),
    answer: z.object({ revoked: z.number().int() }),
  }),
};

export const passwordRoutes = {
  requestReset: route({
    id: 'requestPasswordReset',
    method: 'POST',
    path: '/api/public/password-resets',
    tag,
    summary: 'Mails a link to set a new password, if the address has an account.',
    access: 'public',
    body: z.strictObject({ email }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  reset: route({
    id: 'resetPassword',
    method: 'POST',
    path: '/api/public/password-resets/confirm',
    tag,
    summary: 'Sets a new password by the link, ends all sessions and signs in.',
    access: 'public',
    body: z.strictObject({ token: linkToken, password: newPassword, code: oneTimeCode.optional() }),
    answer: sessionView,
    refusals: ['sign_in_failed', 'totp_required', 'too_many_attempts'],
  }),
  change: route({
    id: 'changePassword',
    method: 'POST',
    path: '/api/password',
    tag,
    summary: 'Sets a new password and ends all other sessions.',
    access: ['user'],
    confirms: true,
    body: z.strictObject({ currentPassword: password, newPassword }),
    refusals: ['too_many_attempts', 'conflict'],
  }),
};

export const emailRoutes = {
  request: route({
    id: 'requestEmailChange',
    method: 'POST',
    path: '/api/email-changes',
    tag,
    summary: 'Mails a link to another e-mail address of yours, which takes it over.',
    description:
      'The answer is the same whether the address is taken or not; the mail says which. The old address gets a notice once ' +
      'the link was followed.',
    access: ['user'],
    confirms: true,
    body: z.strictObject({ email, password }),
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  confirm: route({
    id: 'confirmEmailChange',
    method: 'POST',
    path: '/api/public/email-changes/confirm',
    tag,
    summary: 'Takes the new address over by the link of the mail. Sessions go on.',
    access: 'public',
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
  show: route({
    id: 'getTotp',
    method: 'GET',
    path: '/api/totp',
    tag,
    summary: 'Whether one-time codes are asked for at sign-in.',
    access: ['user'],
    beforeSecondFactor: true,
    underView: 'refused',
    answer: z.object({ enabled: z.boolean(), recoveryCodesLeft: z.number().int() }),
  }),
  enrol: route({
    id: 'enrolTotp',
    method: 'POST',
    path: '/api/totp/enrolment',
    tag,
    summary: 'Begins to enrol a device: a secret for it, in force once a code of it was confirmed.',
    access: ['user'],
    beforeSecondFactor: true,
    body: z.strictObject({ password }),
    answer: z.object({ secret: z.string(), uri: z.string() }),
    refusals: ['too_many_attempts', 'conflict'],
  }),
  confirm: route({
    id: 'confirmTotp',
    method: 'POST',
    path: '/api/totp/confirm',
    tag,
    summary: 'Confirms the device by a code; from now on codes are asked for.',
    access: ['user'],
    beforeSecondFactor: true,
    body: z.strictObject({ code: z.string().regex(/^\d{6}$/, 'must be six digits') }),
    answer: codesView,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  renewCodes: route({
    id: 'renewRecoveryCodes',
    method: 'POST',
    path: '/api/totp/recovery-codes',
    tag,
    summary: 'New recovery codes in place of all before.',
    access: ['user'],
    confirms: true,
    body: z.strictObject({ password }),
    answer: codesView,
    refusals: ['too_many_attempts', 'conflict'],
  }),
  disable: route({
    id: 'disableTotp',
    method: 'POST',
    path: '/api/totp/disable',
    tag,
    summary: 'Asks for no codes any more.',
    access: ['user'],
    confirms: true,
    body: z.strictObject({ password }),
    refusals: ['too_many_attempts'],
  }),
};
