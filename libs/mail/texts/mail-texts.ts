import type { MailContent } from '../mail.content.js';
import type { MailDetails, SecurityNotice } from '../mail.outbox.js';

/** Something that works for a limited time, once. */
interface TimedLink {
  readonly url: string;
  readonly lifeMs: number;
}

interface Linked {
  readonly url: string;
}

/**
 * The content of a notice: its type, as queued by this version; otherwise the English sentence queued by another
 * version, or null.
 */
export type NoticeText = { notice: SecurityNotice } | { sentence: string | null };

/** All mail texts in one language. Each function only adds words to its values. */
export interface MailTexts {
  signUp(link: TimedLink): MailContent;
  alreadyKnown(links: { signInUrl: string; resetUrl: string }): MailContent;
  passwordReset(link: TimedLink): MailContent;
  emailChange(link: TimedLink): MailContent;
  emailTaken(): MailContent;
  emailChanged(details: MailDetails['email_changed']): MailContent;
  securityNotice(about: Linked & NoticeText): MailContent;
  accountDeletion(about: Linked & { resetUrl: string } & MailDetails['account_deletion']): MailContent;
  accountKept(about: Linked): MailContent;
  lowBalance(about: Linked & MailDetails['low_balance']): MailContent;
  topUp(about: Linked & Omit<MailDetails['top_up'], 'orderId'>): MailContent;
  ticketAnswered(about: Linked & MailDetails['ticket_answered']): MailContent;
  webhookOff(about: Linked & MailDetails['webhook_off']): MailContent;
}

/** The text of a notice in its language. */
export function wordsOf(
  about: NoticeText,
  words: Readonly<Record<SecurityNotice, string>>,
  otherwise: string,
): string {
  return 'notice' in about ? words[about.notice] : (about.sentence ?? otherwise);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration in words: in hours if they are whole, otherwise in minutes. */
export function lifeOf(ms: number): { count: number; unit: 'hour' | 'minute' } {
  return ms % HOUR_MS === 0
    ? { count: ms / HOUR_MS, unit: 'hour' }
    : { count: Math.max(1, Math.round(ms / MINUTE_MS)), unit: 'minute' };
}
