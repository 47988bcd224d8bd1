import type pg from 'pg';
import { readableAmount } from '#money/amount.js';
import type { MailLanguage } from '#identity/language.js';
import { hashToken, newToken } from '#identity/secret-token.js';
import type { MailContent } from './mail.content.js';
import { mailAsHtml, mailAsText } from './mail.layout.js';
import { type AboutMail, type MailDetails, securityNotices } from './mail.outbox.js';
import { chineseMail } from './texts/chinese.js';
import { englishMail } from './texts/english.js';
import type { MailTexts, NoticeText } from './texts/mail-texts.js';

export interface MailLinks {
  /** Without a slash at the end. */
  consoleUrl: string;
  signUpLifeMs: number;
  resetLifeMs: number;
}

/** A mail that is ready to be sent. */
export interface WrittenMail {
  subject: string;
  text: string;
  html: string;
}

/** The content, and its language. */
interface Draft {
  content: MailContent;
  language: MailLanguage | null;
}

const TEXTS: Record<MailLanguage, MailTexts> = { en: englishMail, zh: chineseMail };
const DEFAULT_LANGUAGE: MailLanguage = 'en';

/**
 * Writes a due mail in its recipient's language. Links have their token behind a `#`, which browsers send to no server
 * and no log. Null: there is nothing to send, for example because the address has no account.
 */
export async function writeMail(
  database: pg.Pool,
  mail: AboutMail,
  links: MailLinks,
): Promise<WrittenMail | null> {
  const draft = await draftOf(database, mail, links);
  if (!draft) return null;
  const { content, language } = draft;
  const frame = { language: language ?? DEFAULT_LANGUAGE, consoleUrl: links.consoleUrl };
  return { subject: content.subject, text: mailAsText(content, frame), html: mailAsHtml(content, frame) };
}

/** Where a person with a one-time token sets a password. */
export function passwordLink(consoleUrl: string, token: string): string {
  return `${consoleUrl}/reset-password#token=${token}`;
}

async function draftOf(database: pg.Pool, mail: AboutMail, links: MailLinks): Promise<Draft | null> {
  const { to } = mail;
  switch (mail.template) {
    case 'sign_up':
      return signUp(database, { to, ...mail.details }, links);
    case 'password_reset':
      return passwordReset(database, to, links);
    case 'email_change':
      return emailChange(database, { to, ...mail.details }, links);
    case 'email_changed': {
      // The address no longer belongs to anyone.
      const language = await languageOf(database, mail.details.email);
      return { content: textsIn(language).emailChanged(mail.details), language };
    }
    default: {
      const language = await languageOf(database, to);
      return { content: notice(textsIn(language), mail, links), language };
    }
  }
}

type Notice = Exclude<
  AboutMail,
  { template: 'sign_up' | 'password_reset' | 'email_change' | 'email_changed' }
>;

/** Mail with the queued content and a link to a page. */
function notice(texts: MailTexts, mail: Notice, { consoleUrl }: MailLinks): MailContent {
  const resetUrl = `${consoleUrl}/forgot-password`;
  switch (mail.template) {
    case 'security_notice':
      return texts.securityNotice({ ...noticeText(mail.details), url: resetUrl });
    case 'account_deletion':
      return texts.accountDeletion({ ...mail.details, url: `${consoleUrl}/sign-in`, resetUrl });
    case 'account_kept':
      return texts.accountKept({ url: `${consoleUrl}/sign-in` });
    case 'low_balance': {
      const { balance, threshold } = mail.details;
      const amounts = { balance: readableAmount(balance), threshold: readableAmount(threshold) };
      return texts.lowBalance({ ...amounts, url: `${consoleUrl}/wallet` });
    }
    case 'top_up': {
      const { orderId, ...paid } = mail.details;
      const page = orderId === null ? 'wallet?tab=statement' : `topups/${orderId}`;
      return texts.topUp({ ...paid, credits: readableAmount(paid.credits), url: `${consoleUrl}/${page}` });
    }
    // The message itself is shown only in the console, since others may read mail.
    case 'ticket_answered':
      return texts.ticketAnswered({ ...mail.details, url: `${consoleUrl}/tickets/${mail.details.ticketId}` });
    case 'webhook_off':
      return texts.webhookOff({ ...mail.details, url: `${consoleUrl}/webhooks` });
    default:
      // It waits for a program that knows it.
      throw new Error(
        `mail of the template ${String((mail as AboutMail).template)} is not known to this version`,
      );
  }
}

/** A program of another version may have queued it. Earlier ones wrote the sentence itself. */
function noticeText(details: Partial<Record<'notice' | 'what', unknown>>): NoticeText {
  const notice = securityNotices.find((each) => each === details.notice);
  if (notice) return { notice };
  return { sentence: typeof details.what === 'string' ? details.what : null };
}

type To<D> = D & { to: string };

async function signUp(
  database: pg.Pool,
  { to, signUpId }: To<MailDetails['sign_up']>,
  { consoleUrl, signUpLifeMs: lifeMs }: MailLinks,
): Promise<Draft | null> {
  const known = await personAt(database, to);
  if (known) {
    const pages = { signInUrl: `${consoleUrl}/sign-in`, resetUrl: `${consoleUrl}/forgot-password` };
    return { content: textsIn(known.language).alreadyKnown(pages), language: known.language };
  }
  const token = newToken();
  const { rows } = await database.query<Speaker>(
    'UPDATE sign_ups SET token_hash = $2 WHERE id = $1 AND expires_at > now() RETURNING language',
    [signUpId, hashToken(token)],
  );
  if (!rows[0]) return null;
  const { language } = rows[0];
  const url = `${consoleUrl}/sign-up/confirm#token=${token}`;
  return { content: textsIn(language).signUp({ url, lifeMs }), language };
}

async function passwordReset(
  database: pg.Pool,
  to: string,
  { consoleUrl, resetLifeMs: lifeMs }: MailLinks,
): Promise<Draft | null> {
  const token = newToken();
  const { rows } = await database.query<Speaker>(
    `WITH person AS (SELECT id, language FROM users WHERE email = $1 AND disabled_at IS NULL), reset AS (
       INSERT INTO password_resets (token_hash, user_id, expires_at)
       SELECT $2, id, now() + $3::float8 * interval '1 millisecond' FROM person)
     SELECT language FROM person`,
    [to, hashToken(token), lifeMs],
  );
  if (!rows[0]) return null;
  const { language } = rows[0];
  const url = passwordLink(consoleUrl, token);
  return { content: textsIn(language).passwordReset({ url, lifeMs }), language };
}

async function emailChange(
  database: pg.Pool,
  { to, changeId }: To<MailDetails['email_change']>,
  { consoleUrl, resetLifeMs: lifeMs }: MailLinks,
): Promise<Draft | null> {
  const known = await personAt(database, to);
  if (known) return { content: textsIn(known.language).emailTaken(), language: known.language };
  const token = newToken();
  const { rows } = await database.query<Speaker>(
    `UPDATE email_changes c SET token_hash = $2 FROM users u
     WHERE c.id = $1 AND c.expires_at > now() AND u.id = c.user_id RETURNING u.language`,
    [changeId, hashToken(token)],
  );
  if (!rows[0]) return null;
  const { language } = rows[0];
  const url = `${consoleUrl}/confirm-email#token=${token}`;
  return { content: textsIn(language).emailChange({ url, lifeMs }), language };
}

interface Speaker {
  language: MailLanguage | null;
}

async function personAt(database: pg.Pool, email: string): Promise<Speaker | undefined> {
  const { rows } = await database.query<Speaker>('SELECT language FROM users WHERE email = $1', [email]);
  return rows[0];
}

async function languageOf(database: pg.Pool, email: string): Promise<MailLanguage | null> {
  return (await personAt(database, email))?.language ?? null;
}

function textsIn(language: MailLanguage | null): MailTexts {
  return TEXTS[language ?? DEFAULT_LANGUAGE];
}
