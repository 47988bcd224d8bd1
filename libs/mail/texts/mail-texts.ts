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

/** Every mail in one language. Each function only puts words to what it is given. */
export interface MailTexts {
  signUp(link: TimedLink): MailContent;
  alreadyKnown(links: { signInUrl: string; resetUrl: string }): MailContent;
  passwordReset(link: TimedLink): MailContent;
  emailChange(link: TimedLink): MailContent;
  emailTaken(): MailContent;
  emailChanged(details: MailDetails['email_changed']): MailContent;
  securityNotice(about: Linked & { notice: SecurityNotice }): MailContent;
  accountDeletion(about: Linked & { resetUrl: string } & MailDetails['account_deletion']): MailContent;
  lowBalance(about: Linked & MailDetails['low_balance']): MailContent;
  ticketAnswered(about: Linked & MailDetails['ticket_answered']): MailContent;
  webhookOff(about: Linked & MailDetails['webhook_off']): MailContent;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration as people say it: whole hours where it is that, else minutes. */
export function lifeOf(ms: number): { count: number; unit: 'hour' | 'minute' } {
  return ms % HOUR_MS === 0
    ? { count: ms / HOUR_MS, unit: 'hour' }
    : { count: Math.max(1, Math.round(ms / MINUTE_MS)), unit: 'minute' };
}

/** A time of ISO 8601 as it is read: `2026-11-23 05:10 UTC`. */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
