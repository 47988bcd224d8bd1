import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './eventually.js';

export interface ReceivedMail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** All mail from a relay to an address, in the order sent. */
export async function mailTo(relay: { mailDir: string }, email: string): Promise<ReceivedMail[]> {
  const names = await readdir(relay.mailDir).catch(() => []);
  const written = names.filter((name) => name.endsWith('.eml')).sort(byNumber);
  const mails = await Promise.all(
    written.map(async (name) => parse(await readFile(join(relay.mailDir, name), 'utf8'))),
  );
  return mails.filter(({ to }) => to === email);
}

/** Waits until an address has this many mails with a subject. @returns the last */
export async function awaitMail(
  relay: { mailDir: string },
  email: string,
  options: { subject: RegExp; count?: number },
): Promise<ReceivedMail> {
  const { subject, count = 1 } = options;
  const found = async () => (await mailTo(relay, email)).filter((mail) => subject.test(mail.subject));
  return until(`mail ${subject} to ${email}`, async () => {
    const mails = await found();
    return mails.length >= count && mails.at(-1);
  });
}

/** The token in a mailed link. */
export function tokenIn({ text }: ReceivedMail): string {
  const token = /#token=([A-Za-z0-9_-]{43})\s/.exec(text)?.[1];
  if (token === undefined) throw new Error(`no link in: ${text}`);
  return token;
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function parse(file: string): ReceivedMail {
  const { head, body } = partOf(file);
  const boundary = /boundary="(.*)"/.exec(headerOf(head, 'Content-Type'))![1]!;
  const [, text, html] = body.split(`--${boundary}`).map((part) => partOf(part.trimStart()));
  const to = headerOf(head, 'To').replace(/[<>]/g, '');
  return { to, subject: decoded(headerOf(head, 'Subject')), text: text!.body, html: html!.body };
}

function partOf(file: string): { head: string; body: string } {
  const [head = '', ...body] = file.split(/\r?\n\r?\n/);
  return { head: head.replace(/\r?\n[ \t]+/g, ' '), body: body.join('\n\n') };
}

function headerOf(head: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
}

/** Decodes a header's encoded words, if it has any. */
function decoded(header: string): string {
  return header
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?B\?(.*?)\?=/gi, (_, word: string) => Buffer.from(word, 'base64').toString());
}
