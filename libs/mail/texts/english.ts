import type { SecurityNotice } from '../mail.outbox.js';
import { minuteOf } from '#platform/times.js';
import { lifeOf, type MailTexts, wordsOf } from './mail-texts.js';

const NOTICES: Record<SecurityNotice, string> = {
  'password.changed': 'The password of your account was changed, and all other sessions were signed out.',
  'totp.enabled': 'Two-factor authentication was turned on for your account.',
  'totp.codes_renewed': 'New recovery codes were created for your account. The old ones no longer work.',
  'totp.disabled': 'Two-factor authentication was turned off for your account.',
};

const SOMETHING = 'A sign-in setting of your account was changed.';

const ACCESS_CHANGED = 'Your Tollgate sign-in settings changed';

function inWords(ms: number): string {
  const { count, unit } = lifeOf(ms);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

export const englishMail: MailTexts = {
  signUp: ({ url, lifeMs }) => ({
    subject: 'Finish signing up for Tollgate',
    paragraphs: ['Choose a password to create your account.'],
    button: { label: 'Create your account', url },
    notes: [
      `The link works once and expires in ${inWords(lifeMs)}.`,
      'If you did not ask for it, ignore this email. No account is created without it.',
    ],
  }),
  alreadyKnown: ({ signInUrl, resetUrl }) => ({
    subject: 'You already have a Tollgate account',
    paragraphs: [
      'Someone, probably you, tried to sign up with this email address. It already has an account, so just sign in.',
    ],
    button: { label: 'Sign in', url: signInUrl },
    notes: ['If this was not you, you do not need to do anything. Nothing was changed.'],
    otherwise: { label: 'Forgot your password? Set a new one', url: resetUrl },
  }),
  passwordReset: ({ url, lifeMs }) => ({
    subject: 'Set a new Tollgate password',
    paragraphs: ['Choose a new password for your account. All your sessions will be signed out.'],
    button: { label: 'Set a new password', url },
    notes: [
      `The link works once and expires in ${inWords(lifeMs)}.`,
      'If you did not ask for it, ignore this email. Your password stays the same.',
    ],
  }),
  emailChange: ({ url, lifeMs }) => ({
    subject: 'Confirm your new email address for Tollgate',
    paragraphs: ['Confirm that this email address is yours. You will then sign in with it.'],
    button: { label: 'Use this address', url },
    notes: [
      `The link works once and expires in ${inWords(lifeMs)}.`,
      'If you did not ask for it, ignore this email. Nothing is changed.',
    ],
  }),
  emailTaken: () => ({
    subject: 'This address already has a Tollgate account',
    paragraphs: [
      'Someone, probably you, tried to use this email address for another Tollgate account. It already has its own ' +
        'account, so nothing was changed.',
    ],
  }),
  emailChanged: ({ email }) => ({
    subject: ACCESS_CHANGED,
    paragraphs: ['The email address of your account was changed. We no longer send mail to this one.'],
    facts: [{ label: 'New address', value: email }],
    notes: ['If this was not you, contact support immediately.'],
  }),
  securityNotice: ({ url, ...about }) => ({
    subject: ACCESS_CHANGED,
    paragraphs: [wordsOf(about, NOTICES, SOMETHING), 'If this was not you, set a new password immediately.'],
    button: { label: 'Set a new password', url },
  }),
  accountDeletion: ({ dueAt, url, resetUrl }) => ({
    subject: 'Your Tollgate account will be deleted',
    paragraphs: [
      `Your account will be deleted after ${minuteOf(dueAt)}. Its API keys no longer work.`,
      'To keep the account, sign in before then and cancel the deletion.',
    ],
    button: { label: 'Sign in to keep it', url },
    otherwise: { label: 'If this was not you, set a new password immediately', url: resetUrl },
  }),
  accountKept: ({ url }) => ({
    subject: 'Your Tollgate account will not be deleted',
    paragraphs: [
      'Our support team cancelled the deletion of your account. Its old API keys still do not work.',
      'If you want the account deleted, sign in and delete it again.',
    ],
    button: { label: 'Sign in', url },
    notes: ['If you did not ask support to cancel it, tell us in a ticket.'],
  }),
  lowBalance: ({ balance, threshold, url }) => ({
    subject: 'Your Tollgate balance is low',
    paragraphs: [`Your balance is ${balance} credits, below your alert level of ${threshold} credits.`],
    button: { label: 'Add credits', url },
    notes: ['We email you again only after a top-up has brought the balance back above that level.'],
  }),
  topUp: ({ credits, paid, url }) => ({
    subject: 'Your Tollgate top-up',
    paragraphs: ['Payment received. The credits are in your balance.'],
    facts: [
      { label: 'Credits', value: credits },
      { label: 'Paid', value: paid },
    ],
    button: { label: 'View receipt', url },
  }),
  ticketAnswered: ({ subject, url }) => ({
    subject: 'Tollgate support has replied',
    paragraphs: [`There is an update on your ticket “${subject}”.`],
    button: { label: 'Read the reply', url },
  }),
  webhookOff: ({ host, reason, url }) => ({
    subject: 'A Tollgate webhook was disabled',
    paragraphs: [
      `Your webhook endpoint at ${host} was disabled: ` +
        (reason === 'gone' ? 'it responded with 410 Gone.' : 'its deliveries kept failing for too long.'),
      'Fix it, enable it again, and resend the events it missed.',
    ],
    button: { label: 'Open webhooks', url },
  }),
};
