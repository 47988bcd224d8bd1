import type pg from 'pg';

/** What mail is about. Its text is made when it goes out, so links and their tokens are nowhere before. */
export type MailTemplate =
  | 'sign_up'
  | 'password_reset'
  | 'email_change'
  | 'email_changed'
  | 'security_notice'
  | 'low_balance'
  | 'ticket_answered'
  | 'webhook_off';

export interface QueuedMail {
  template: MailTemplate;
  to: string;
  details?: Record<string, string>;
  /** The event that the mail is about: one mail, however often the event comes. */
  event?: string;
}

/** Writes mail into the transaction that is its reason: it is sent if that commits, and only then. */
export async function queueMail(database: pg.Pool | pg.ClientBase, mail: QueuedMail): Promise<void> {
  const { template, to, details = {}, event = null } = mail;
  await database.query(
    `INSERT INTO mail_outbox (template, recipient, details, event) VALUES ($1, $2, $3, $4)
     ON CONFLICT (event) DO NOTHING`,
    [template, to, JSON.stringify(details), event],
  );
}
