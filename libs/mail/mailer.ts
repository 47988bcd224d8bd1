import nodemailer, { type Transporter } from 'nodemailer';
import { encodeWords } from 'nodemailer/lib/mime-funcs';
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailConfig } from './mail.config.js';

interface Mail {
  /** The same for every attempt, so that a mailbox can drop a second copy. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** The server permanently accepts no mail for this address, because it does not exist or is invalid. */
export class AddressRefused extends Error {}

/** A way to send mail. */
export interface Mailer {
  /** @throws AddressRefused, or the transport's error if the mail was not accepted */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** What the library's errors contain of the server's answer. */
interface RefusedCommand {
  command: string;
  responseCode: number;
  response: string;
}

/** Longer than any healthy server takes. The loop retries. */
const SMTP_TIMEOUT_MS = 20_000;

export function openMailer(config: MailConfig): Mailer {
  return config.smtpUrl === undefined
    ? new FolderMailer(config)
    : new SmtpMailer(config.smtpUrl, config.from);
}

/** Sends mail to a server over SMTP. */
class SmtpMailer implements Mailer {
  private readonly transport: Transporter;

  constructor(
    url: string,
    private readonly from: string,
  ) {
    const timeouts = {
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    };
    this.transport = nodemailer.createTransport({ url, ...timeouts, ...NO_ATTACHMENTS });
  }

  async send(mail: Mail): Promise<void> {
    try {
      await this.transport.sendMail(message(mail, this.from));
    } catch (error) {
      throw refusesAddress(error) ? new AddressRefused((error as Error).message, { cause: error }) : error;
    }
  }

  close(): void {
    this.transport.close();
  }
}

/** RFC 5321: the mailbox does not exist, has moved, or is invalid. */
const NO_SUCH_MAILBOX = new Set([550, 551, 553]);
/** RFC 3463: a policy, for example against relaying. The address may be fine. */
const BY_POLICY = /^\d{3}[- ]5\.7\./;

function refusesAddress(error: unknown): boolean {
  const { command, responseCode, response } = error as Partial<RefusedCommand>;
  if (command !== 'RCPT TO' || responseCode === undefined || !NO_SUCH_MAILBOX.has(responseCode)) return false;
  return !BY_POLICY.test(response ?? '');
}

/** Writes each mail to a file, for a relay without a mail server. Its links can be copied. */
class FolderMailer implements Mailer {
  constructor(private readonly config: MailConfig) {}

  async send(mail: Mail): Promise<void> {
    const { folder, from } = this.config;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${mail.id}.eml`);
    await writeFile(`${path}.part`, fileOf(mail, from), { mode: 0o600 });
    await rename(`${path}.part`, path);
  }

  close(): void {
    // Nothing stays open between two mails.
  }
}

/**
 * One file with both parts, unencoded, so that their links can be read and copied. Header values have no line breaks,
 * because addresses are checked, and subjects are ours.
 */
function fileOf({ id, to, subject, text, html }: Mail, from: string): string {
  const boundary = randomUUID();
  const part = (type: string, body: string) =>
    `--${boundary}\nContent-Type: ${type}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n${body}\n`;
  const head = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${encodeWords(subject, 'B', 52, false)}`,
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <${id}@${domainOf(from)}>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
  ];
  return `${head.join('\n')}\n\n${part('text/plain', text)}${part('text/html', html)}--${boundary}--\n`;
}

function domainOf(from: string): string {
  return /@([a-z0-9.-]+)/i.exec(from)?.[1] ?? 'localhost';
}

/** A text is never read as a file or an address. */
const NO_ATTACHMENTS = { disableFileAccess: true, disableUrlAccess: true } as const;

function message({ id, to, subject, text, html }: Mail, from: string) {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}
