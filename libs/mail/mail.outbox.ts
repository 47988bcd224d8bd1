import type pg from 'pg';

/** A change to how someone signs in. */
export const securityNotices = [
  'password.changed',
  'totp.enabled',
  'totp.codes_renewed',
  'totp.disabled',
] as const;

export type SecurityNotice = (typeof securityNotices)[number];

/**
 * The subject of a mail and its details when it is queued. The text is written when it is sent, so links and their
 * tokens do not exist before. Amounts are decimal strings, times ISO 8601.
 */
export interface MailDetails {
  sign_up: { signUpId: string };
  password_reset: Record<never, string>;
  email_change: { changeId: string };
  email_changed: { email: string };
  security_notice: { notice: SecurityNotice };
  account_deletion: { dueAt: string };
  /** Support cancelled the deletion. */
  account_kept: Record<never, string>;
  low_balance: { balance: string; threshold: string };
  top_up: { credits: string; paid: string; orderId: string | null };
  ticket_answered: { ticketId: string; subject: string };
  webhook_off: { host: string; reason: string };
}

type MailTemplate = keyof MailDetails;

/** Templates that anyone can request for an address that they name. */
const REQUESTED = ['sign_up', 'password_reset', 'email_change'] as const satisfies readonly MailTemplate[];

export type RequestedMail = (typeof REQUESTED)[number];

/** As which requests of mail to an address are counted: each template by itself, so that none uses up another's. */
export function mailSubject(template: RequestedMail, email: string): string {
  return `mail ${template} ${email}`;
}

export function mailSubjects(email: string): string[] {
  return REQUESTED.map((template) => mailSubject(template, email));
}

/** A mail of one template with its own details. */
export type AboutMail = {
  [T in MailTemplate]: { template: T; to: string; details: MailDetails[T] };
}[MailTemplate];

export type QueuedMail = AboutMail & {
  /** The event that caused the mail: one mail, however often the event arrives. */
  event?: string;
};

/**
 * Queues mail in the transaction that causes it: it is sent if and only if that commits.
 * @returns whether it is new: not for an event that caused it before
 */
export async function queueMail(database: pg.Pool | pg.ClientBase, mail: QueuedMail): Promise<boolean> {
  const { template, to, details, event = null } = mail;
  const { rowCount } = await database.query(
    `INSERT INTO mail_outbox (template, recipient, details, event) VALUES ($1, $2, $3, $4)
     ON CONFLICT (event) DO NOTHING`,
    [template, to, JSON.stringify(details), event],
  );
  return rowCount === 1;
}
