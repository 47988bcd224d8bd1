import type pg from 'pg';
import { hashToken, newToken } from '#identity/secret-token.js';
import type { MailTemplate } from './mail.outbox.js';

/** A mail that is due, as it was queued. */
export interface DueMail {
  template: MailTemplate;
  to: string;
  details: Record<string, string>;
}

export interface MailTextOptions {
  /** Without a slash at the end. */
  consoleUrl: string;
  signUpLifeMs: number;
  resetLifeMs: number;
}

export interface MailText {
  subject: string;
  text: string;
}

/**
 * Writes the mail of a template. Links carry their token behind a `#`, which browsers send to no server and no log.
 * Null: there is nothing to say any more, as to an address that nobody here has.
 */
export async function writeMail(
  database: pg.Pool,
  mail: DueMail,
  options: MailTextOptions,
): Promise<MailText | null> {
  switch (mail.template) {
    case 'sign_up':
      return signUp(database, mail, options);
    case 'password_reset':
      return passwordReset(database, mail, options);
    case 'email_change':
      return emailChange(database, mail, options);
    case 'email_changed':
      return emailChanged(mail);
    case 'security_notice':
      return securityNotice(mail, options);
    case 'low_balance':
      return lowBalance(mail, options);
    case 'ticket_answered':
      return ticketAnswered(mail, options);
    case 'webhook_off':
      return webhookOff(mail, options);
  }
}

function alreadyKnown(consoleUrl: string): MailText {
  return {
    subject: 'You already have a Tollgate account',
    text: lines(
      'Someone, probably you, asked to sign up with this e-mail address. It already has an account:',
      `sign in at ${consoleUrl}/sign-in, or set a new password at ${consoleUrl}/forgot-password.`,
      '',
      'If it was not you, there is nothing to do. Nothing was changed.',
    ),
  };
}

async function signUp(
  database: pg.Pool,
  { to, details }: DueMail,
  { consoleUrl, signUpLifeMs }: MailTextOptions,
): Promise<MailText | null> {
  const { rowCount: known } = await database.query('SELECT FROM users WHERE email = $1', [to]);
  if (known) return alreadyKnown(consoleUrl);
  const token = newToken();
  const { rowCount } = await database.query(
    'UPDATE sign_ups SET token_hash = $2 WHERE id = $1 AND expires_at > now()',
    [details['signUpId'], hashToken(token)],
  );
  if (!rowCount) return null;
  return {
    subject: 'Finish signing up to Tollgate',
    text: lines(
      'Follow this link to choose a password and open your account:',
      '',
      `${consoleUrl}/sign-up/confirm#token=${token}`,
      '',
      `It is good once, for ${inWords(signUpLifeMs)}.`,
      'If you did not ask for it, ignore this mail: no account is opened without it.',
    ),
  };
}

async function passwordReset(
  database: pg.Pool,
  { to }: DueMail,
  { consoleUrl, resetLifeMs }: MailTextOptions,
): Promise<MailText | null> {
  const token = newToken();
  const { rowCount } = await database.query(
    `INSERT INTO password_resets (token_hash, user_id, expires_at)
     SELECT $2, id, now() + $3::float8 * interval '1 millisecond' FROM users WHERE email = $1 AND disabled_at IS NULL`,
    [to, hashToken(token), resetLifeMs],
  );
  if (!rowCount) return null;
  return {
    subject: 'Set a new Tollgate password',
    text: lines(
      'Follow this link to set a new password:',
      '',
      passwordLink(consoleUrl, token),
      '',
      `It is good once, for ${inWords(resetLifeMs)}, and ends all sessions.`,
      'If you did not ask for it, ignore this mail: your password does not change.',
    ),
  };
}

async function emailChange(
  database: pg.Pool,
  { to, details }: DueMail,
  { consoleUrl, resetLifeMs }: MailTextOptions,
): Promise<MailText | null> {
  const { rowCount: known } = await database.query('SELECT FROM users WHERE email = $1', [to]);
  if (known) {
    return {
      subject: 'This address has a Tollgate account already',
      text: lines(
        'Someone, probably you, asked to use this e-mail address for another Tollgate account. It already has one of its own,',
        'so nothing was changed.',
      ),
    };
  }
  const token = newToken();
  const { rowCount } = await database.query(
    'UPDATE email_changes SET token_hash = $2 WHERE id = $1 AND expires_at > now()',
    [details['changeId'], hashToken(token)],
  );
  if (!rowCount) return null;
  return {
    subject: 'Confirm your new address at Tollgate',
    text: lines(
      'Follow this link to use this e-mail address for your Tollgate account:',
      '',
      `${consoleUrl}/confirm-email#token=${token}`,
      '',
      `It is good once, for ${inWords(resetLifeMs)}. From then on you sign in with this address.`,
      'If you did not ask for it, ignore this mail: nothing is changed.',
    ),
  };
}

/** To the old address, which nobody can set a password by any more: the way back is a person. */
function emailChanged({ details }: DueMail): MailText {
  return {
    subject: 'Your Tollgate account: a change of access',
    text: lines(
      `The e-mail address of your account is ${details['email']} from now on. Mail no longer goes to this one.`,
      '',
      'If it was not you, write to support at once.',
    ),
  };
}

/** Where someone with a one-time token sets a password. */
export function passwordLink(consoleUrl: string, token: string): string {
  return `${consoleUrl}/reset-password#token=${token}`;
}

function securityNotice({ details }: DueMail, { consoleUrl }: MailTextOptions): MailText {
  return {
    subject: 'Your Tollgate account: a change of access',
    text: lines(
      details['what'] ?? '',
      '',
      `If it was not you, set a new password at once: ${consoleUrl}/forgot-password`,
    ),
  };
}

function lowBalance({ details }: DueMail, { consoleUrl }: MailTextOptions): MailText {
  return {
    subject: 'Your Tollgate balance is low',
    text: lines(
      `Your balance is ${details['balance']} credits, below ${details['threshold']} credits, the alert level you set.`,
      `Top up at ${consoleUrl}/wallet. The next mail comes after a top-up has brought the balance back above it.`,
    ),
  };
}

/** What was written is shown in the console alone: mail may be read by others. */
function ticketAnswered({ details }: DueMail, { consoleUrl }: MailTextOptions): MailText {
  return {
    subject: 'Tollgate support has answered',
    text: lines(
      `There is news on your ticket "${details['subject']}":`,
      `${consoleUrl}/tickets/${details['ticketId']}`,
    ),
  };
}

function webhookOff({ details }: DueMail, { consoleUrl }: MailTextOptions): MailText {
  const why =
    details['reason'] === 'gone'
      ? 'it says that it is gone (410)'
      : 'its deliveries have failed for too long';
  return {
    subject: 'A Tollgate webhook was switched off',
    text: lines(
      `Your webhook endpoint at ${details['host']} was switched off: ${why}.`,
      `Mend it, switch it on again, and replay what it missed: ${consoleUrl}/webhooks`,
    ),
  };
}

function lines(...text: string[]): string {
  return `${text.join('\n')}\n`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration as people say it, such as `24 hours` or `90 minutes`. */
function inWords(ms: number): string {
  const [count, unit] =
    ms % HOUR_MS === 0 ? [ms / HOUR_MS, 'hour'] : [Math.max(1, Math.round(ms / MINUTE_MS)), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
