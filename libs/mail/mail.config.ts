import type { ConfigReader } from '#platform/config.js';

export interface MailConfig {
  /** The SMTP server. Undefined: mail is written to `folder`. Can contain a password. */
  readonly smtpUrl: string | undefined;
  readonly from: string;
  readonly folder: string;
  /** The net under the waking of the loop that sends. */
  readonly pollMs: number;
  /** How long to keep trying to send a mail. */
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
