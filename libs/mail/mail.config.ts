import type { ConfigReader } from '#platform/config.js';

export interface MailConfig {
  /** Where mail is handed in; undefined: it is written to `folder`. May hold a password. */
  readonly smtpUrl: string | undefined;
  readonly from: string;
  readonly folder: string;
  /** The net under the waking of the loop that sends. */
  readonly pollMs: number;
  /** A mail that could not be sent for this long is given up. */
  readonly giveUpMs: number;
}

export function readMailConfig(reader: ConfigReader): MailConfig {
  return {
    smtpUrl: reader.get('SMTP_URL'),
    from: reader.get('MAIL_FROM'),
    folder: reader.get('MAIL_DIR'),
    pollMs: reader.get('MAIL_POLL_SECONDS'),
    giveUpMs: reader.get('MAIL_GIVE_UP_SECONDS'),
  };
}
