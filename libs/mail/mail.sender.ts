import type pg from 'pg';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';
import { Metrics, type Registry } from '#platform/metrics.js';
import type { MailConfig } from './mail.config.js';
import type { AboutMail } from './mail.outbox.js';
import { type MailLinks, writeMail } from './mail.writer.js';
import { AddressRefused, type Mailer } from './mailer.js';

/** Mails per round. Other processes take other mails. */
const AT_ONCE = 10;
/** After this long, other processes take over the mail of one that died. */
const LEASE_MS = 120_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 3_600_000;
const MAX_ERROR_CHARS = 500;
/** `refused`: the address does not exist, so there is nothing to retry, and nothing for an operator to do. */
const OUTCOMES = ['sent', 'failed', 'refused'] as const;

type TakenMail = AboutMail & {
  id: string;
  attempts: number;
  isLast: boolean;
};

export interface MailSenderParts {
  pool: pg.Pool;
  mailer: Mailer;
  config: MailConfig;
  links: MailLinks;
  log: Logger;
  registry: Registry;
}

class MailMetrics extends Metrics {
  readonly attempts = this.counter('tollgate_mail_attempts_total', 'Attempts to send a mail, by outcome.', [
    'outcome',
  ]);
  readonly oldestFailedSeconds = this.gauge(
    'tollgate_mail_oldest_failed_seconds',
    'Age of the oldest failed mail that is still being retried.',
  );
}

/**
 * Sends queued mail, oldest first. No transaction is open while a mail is sent. After a crash in between, it is sent
 * twice, with the same message id, rather than not at all.
 */
export class MailSender extends Looping {
  private readonly metrics: MailMetrics;

  constructor(private readonly parts: MailSenderParts) {
    const { config, log, registry } = parts;
    super({ name: 'mail', intervalMs: config.pollMs, log });
    this.metrics = new MailMetrics(registry);
    // Rates do not see the first increase of a counter that starts with it.
    for (const outcome of OUTCOMES) this.metrics.attempts.inc({ outcome }, 0);
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.parts.mailer.close();
  }

  protected async round(): Promise<boolean> {
    const taken = await this.take();
    await Promise.all(taken.map((mail) => this.send(mail)));
    await this.measure();
    return taken.length === AT_ONCE;
  }

  /** A single mail that is never sent would go unnoticed without its age. */
  private async measure(): Promise<void> {
    const { rows } = await this.parts.pool.query<{ seconds: number }>({
      name: 'oldest-failed-mail',
      text: `SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS seconds
        FROM mail_outbox WHERE ended_at IS NULL AND last_error IS NOT NULL`,
    });
    this.metrics.oldestFailedSeconds.set(rows[0]!.seconds);
  }

  private async take(): Promise<TakenMail[]> {
    const { rows } = await this.parts.pool.query<TakenMail>({
      name: 'take-mail',
      text: `UPDATE mail_outbox SET attempts = attempts + 1,
          next_attempt_at = now() + interval '${LEASE_MS} milliseconds'
        WHERE id IN (SELECT id FROM mail_outbox WHERE ended_at IS NULL AND next_attempt_at <= now()
          ORDER BY next_attempt_at LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED)
        RETURNING id::text, template, recipient AS "to", details, attempts,
          created_at < now() - $1::float8 * interval '1 millisecond' AS "isLast"`,
      values: [this.parts.config.giveUpMs],
    });
    return rows;
  }

  private async send(mail: TakenMail): Promise<void> {
    const { pool, mailer, links } = this.parts;
    try {
      const written = await writeMail(pool, mail, links);
      if (written) await mailer.send({ id: `tollgate-${mail.id}`, to: mail.to, ...written });
      await pool.query('UPDATE mail_outbox SET ended_at = now(), last_error = NULL WHERE id = $1', [mail.id]);
      this.metrics.attempts.inc({ outcome: 'sent' });
    } catch (error) {
      await this.afterFailure(mail, error);
    }
  }

  private async afterFailure(mail: TakenMail, error: unknown): Promise<void> {
    const { id, template, attempts } = mail;
    const isRefused = error instanceof AddressRefused;
    const isLast = isRefused || mail.isLast;
    this.metrics.attempts.inc({ outcome: isRefused ? 'refused' : 'failed' });
    this.parts.log.warn({ err: error, mailId: id, template, attempts, isLast }, 'a mail could not be sent');
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_RETRY_MS);
    await this.parts.pool.query(
      `UPDATE mail_outbox SET last_error = $2, next_attempt_at = now() + $3::float8 * interval '1 millisecond',
         ended_at = CASE WHEN $4 THEN now() END WHERE id = $1`,
      [id, String((error as Error).message).slice(0, MAX_ERROR_CHARS), pauseMs, isLast],
    );
  }
}
