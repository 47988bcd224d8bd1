import type { ConfigReader } from '#platform/config.js';

export interface MailConfig {
  /** Where mail is handed in; undefined: it is written to `folder`. May hold a password. */
  readonly smtpUrl: string | undefined;
  readonly from: string;
  readonly folder: string;
  /** The net under the waking of the loop that sends. */
  readonly pollMs: number;
  /** A mail that could not be sent for so long is given up. */
  readonly giveUpMs: number;
}

const DAY = 86_400;

export function readMailConfig(reader: ConfigReader): MailConfig {
  return {
    smtpUrl: reader.optionalSecretUrl('SMTP_URL'),
    from: reader.string('MAIL_FROM', 'Tollgate <no-reply@localhost>'),
    folder: reader.string('MAIL_DIR', '.data/mail'),
    pollMs: reader.seconds('MAIL_POLL_SECONDS', 5),
    giveUpMs: reader.seconds('MAIL_GIVE_UP_SECONDS', 3 * DAY),
  };
}
