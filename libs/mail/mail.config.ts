import type { ConfigReader } from '#platform/config.js';

export function readMailConfig(reader: ConfigReader) {
  return {
    /** The SMTP server. Undefined: mail is written to `folder`. Can contain a password. */
    smtpUrl: reader.get('SMTP_URL'),
    from: reader.get('MAIL_FROM'),
    folder: reader.get('MAIL_DIR'),
    /** The net under the waking of the loop that sends. */
    pollMs: reader.get('MAIL_POLL_SECONDS'),
    /** How long to keep trying to send a mail. */
    giveUpMs: reader.get('MAIL_GIVE_UP_SECONDS'),
  };
}

export type MailConfig = Readonly<ReturnType<typeof readMailConfig>>;
