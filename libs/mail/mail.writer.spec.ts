import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailLanguage, mailLanguages } from '#identity/language.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import type { AboutMail, MailDetails } from './mail.outbox.js';
import { writeMail, type WrittenMail } from './mail.writer.js';

const CONSOLE = 'https://console.example';
const LINKS = { consoleUrl: CONSOLE, signUpLifeMs: 86_400_000, resetLifeMs: 5_400_000 };
/** What a customer or a stranger could have named something. */
const HOSTILE = `<img src=x onerror="alert('1')"> & more`;
const HAN = /\p{Script=Han}/u;

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

async function personWith(language: MailLanguage | null): Promise<{ userId: string; email: string }> {
  const { accountId } = await fixture.account({ credits: '0' });
  const userId = newId();
  const email = `${userId}@example.com`;
  await fixture.owner.query(
    `INSERT INTO users (id, account_id, email, password_hash, language) VALUES ($1, $2, $3, 'none', $4)`,
    [userId, accountId, email, language],
  );
  return { userId, email };
}

async function signUpIn(language: MailLanguage | null): Promise<{ signUpId: string; to: string }> {
  const signUpId = newId();
  const to = `${signUpId}@example.com`;
  await fixture.owner.query(
    `INSERT INTO sign_ups (id, email, language, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')`,
    [signUpId, to, language],
  );
  return { signUpId, to };
}

async function written(mail: AboutMail): Promise<WrittenMail> {
  const found = await writeMail(fixture.billing, mail, LINKS);
  if (!found) throw new Error('nothing to say');
  return found;
}

/** Every mail, with what must be in it. */
type Samples = {
  [T in Exclude<keyof MailDetails, 'sign_up' | 'password_reset' | 'email_change' | 'email_changed'>]: {
    details: MailDetails[T];
    says: string[];
  };
};
const SAMPLES: Samples = {
  security_notice: { details: { notice: 'password.changed' }, says: [`${CONSOLE}/forgot-password`] },
  account_deletion: {
    details: { dueAt: '2026-11-23T05:10:59.000Z' },
    says: ['2026-11-23 05:10 UTC', `${CONSOLE}/sign-in`],
  },
  account_kept: { details: {}, says: [`${CONSOLE}/sign-in`] },
  low_balance: {
    details: { balance: '0.04', threshold: '0.05' },
    says: ['0.04', '0.05', `${CONSOLE}/wallet`],
  },
  top_up: {
    details: { credits: '10', paid: '13.00 USD', orderId: 'order-1' },
    says: ['10.00', '13.00 USD', `${CONSOLE}/topups/order-1`],
  },
  ticket_answered: {
    details: { ticketId: 'ticket-1', subject: 'Where is it?' },
    says: ['Where is it?', `${CONSOLE}/tickets/ticket-1`],
  },
  webhook_off: {
    details: { host: 'hooks.example', reason: 'gone' },
    says: ['hooks.example', '410', `${CONSOLE}/webhooks`],
  },
};

describe.each(mailLanguages)('mail in %s', (language) => {
  const isChinese = language === 'zh';

  it.each(Object.keys(SAMPLES) as (keyof Samples)[])('says %s in HTML and in text', async (template) => {
    const { details, says } = SAMPLES[template];
    const { email } = await personWith(language);
    const mail = await written({ template, to: email, details } as AboutMail);
    for (const value of says) {
      expect(mail.text).toContain(value);
      expect(mail.html).toContain(value);
    }
    for (const text of [mail.subject, mail.text]) expect(HAN.test(text)).toBe(isChinese);
    expect(mail.html).toContain(`<html lang="${isChinese ? 'zh-Hans' : 'en'}">`);
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/undefined|\[object|NaN/);
  });

  it('asks a person to finish signing up in the language of the page that they used', async () => {
    const { signUpId, to } = await signUpIn(language);
    const mail = await written({ template: 'sign_up', to, details: { signUpId } });
    const url = /^https:\S+#token=[\w-]{43}$/m.exec(mail.text)![0];
    expect(mail.html.split(`href="${url}"`)).toHaveLength(2);
    expect(mail.text).toContain(isChinese ? '24 小时' : '24 hours');
  });

  it('writes links for a password and for another address in the person’s language', async () => {
    const { userId, email } = await personWith(language);
    const reset = await written({ template: 'password_reset', to: email, details: {} });
    expect(reset.text).toContain(isChinese ? '90 分钟' : '90 minutes');
    const changeId = newId();
    const next = `${changeId}@example.com`;
    await fixture.owner.query(
      `INSERT INTO email_changes (id, user_id, email, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')`,
      [changeId, userId, next],
    );
    const change = await written({ template: 'email_change', to: next, details: { changeId } });
    expect(HAN.test(change.subject)).toBe(isChinese);
    const taken = await written({ template: 'email_change', to: email, details: { changeId } });
    expect(HAN.test(taken.subject)).toBe(isChinese);
    expect(taken.text).not.toContain('token=');
    const changed = await written({ template: 'email_changed', to: 'old@example.com', details: { email } });
    expect(HAN.test(changed.subject)).toBe(isChinese);
    expect(changed.html).toContain(email);
  });
});

it('is in English for a person who never chose a language, and for a sign-up that names none', async () => {
  const { email } = await personWith(null);
  const { signUpId, to } = await signUpIn(null);
  for (const mail of [
    await written({ template: 'security_notice', to: email, details: { notice: 'totp.disabled' } }),
    await written({ template: 'sign_up', to, details: { signUpId } }),
  ]) {
    expect(mail.html).toContain('<html lang="en">');
    expect(mail.text).not.toMatch(HAN);
  }
});

describe('a notice that a program of another version queued', () => {
  const queued = async (details: object) => {
    const { email } = await personWith('en');
    return written({ template: 'security_notice', to: email, details } as AboutMail);
  };

  it('says the sentence that was queued', async () => {
    const what = 'The password of your account was changed, and all other sessions were ended.';
    const { text, html } = await queued({ what });
    for (const body of [text, html]) {
      expect(body).toContain(what);
      expect(body).toContain(`${CONSOLE}/forgot-password`);
    }
  });

  it.each([{ notice: 'passkey.added' }, { notice: 'constructor' }, { what: 7 }, {}])(
    'says that something was changed, for %j',
    async (details) => {
      const { text } = await queued(details);
      expect(text).toContain('A sign-in setting of your account was changed.');
      expect(text).not.toMatch(/undefined|\[object|native code/);
    },
  );

  it('is left to a program that knows its template', async () => {
    const { email } = await personWith('en');
    const mail = { template: 'passkey_added', to: email, details: {} } as unknown as AboutMail;
    await expect(written(mail)).rejects.toThrow('passkey_added is not known to this version');
  });
});

it('shows what people wrote as text, and loads nothing from anywhere', async () => {
  const { email } = await personWith('en');
  const details = { ticketId: 'a"b', subject: HOSTILE };
  const { html, text } = await written({ template: 'ticket_answered', to: email, details });
  expect(text).toContain(HOSTILE);
  expect(html).toContain('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; more');
  expect(html).toContain(`href="${CONSOLE}/tickets/a&quot;b"`);
  expect(html).not.toMatch(/<(img|script|link|iframe|object|form)\b|url\(|@import|src="/i);
  const addresses = [...html.matchAll(/https?:\/\/[^\s"<]+/g)].map(([address]) => new URL(address).origin);
  expect(new Set(addresses)).toEqual(new Set([CONSOLE]));
});
