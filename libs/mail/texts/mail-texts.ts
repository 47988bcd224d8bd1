import type { MailContent } from '../mail.content.js';
import type { MailDetails, SecurityNotice } from '../mail.outbox.js';

/** Something that works for a while, once. */
interface TimedLink {
  readonly url: string;
  readonly lifeMs: number;
}

interface Linked {
  readonly url: string;
}

/**
 * What a notice says: what happened, as programs of this version queue it; else the sentence that one of another version queued,
 * in English, or null where it queued none.
 */
export type NoticeText = { notice: SecurityNotice } | { sentence: string | null };

/** Every mail in one language. Each function only puts words to what it is given. */
export interface MailTexts {
  signUp(link: TimedLink): MailContent;
  alreadyKnown(links: { signInUrl: string; resetUrl: string }): MailContent;
  passwordReset(link: TimedLink): MailContent;
  emailChange(link: TimedLink): MailContent;
  emailTaken(): MailContent;
  emailChanged(details: MailDetails['email_changed']): MailContent;
  securityNotice(about: Linked & NoticeText): MailContent;
  accountDeletion(about: Linked & { resetUrl: string } & MailDetails['account_deletion']): MailContent;
  lowBalance(about: Linked & MailDetails['low_balance']): MailContent;
  topUp(about: Linked & Omit<MailDetails['top_up'], 'orderId'>): MailContent;
  ticketAnswered(about: Linked & MailDetails['ticket_answered']): MailContent;
  webhookOff(about: Linked & MailDetails['webhook_off']): MailContent;
}

/** The words of a notice, from those of its language. */
export function wordsOf(
  about: NoticeText,
  words: Readonly<Record<SecurityNotice, string>>,
  otherwise: string,
): string {
  return 'notice' in about ? words[about.notice] : (about.sentence ?? otherwise);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration as people say it: whole hours where it is that, else minutes. */
export function lifeOf(ms: number): { count: number; unit: 'hour' | 'minute' } {
  return ms % HOUR_MS === 0
    ? { count: ms / HOUR_MS, unit: 'hour' }
    : { count: Math.max(1, Math.round(ms / MINUTE_MS)), unit: 'minute' };
}
