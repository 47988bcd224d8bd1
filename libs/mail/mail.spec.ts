import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inTransaction } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { until } from '../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { mailTo } from '../../test/support/mail.js';
import type { MailConfig } from './mail.config.js';
import { queueMail } from './mail.outbox.js';
import { MailSender } from './mail.sender.js';
import { openMailer } from './mailer.js';

/** A minimal mail server, which stores what it receives, and can refuse recipients. */
class SmtpServer {
  readonly received: { to: string; data: string }[] = [];
  refusal: string | null = null;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => this.talk(socket));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `smtp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private talk(socket: Socket): void {
    this.sockets.add(socket);
    let [text, to, inData] = ['', '', false];
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 ready');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk.toString();
      for (let end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n'); end >= 0;) {
        const part = text.slice(0, end);
        text = text.slice(end + (inData ? 5 : 2));
        if (inData) {
          this.received.push({ to, data: part });
          inData = false;
          say('250 taken');
        } else if (/^RCPT TO:<(.*)>/i.test(part)) {
          to = /<(.*)>/.exec(part)![1]!;
          say(this.refusal ?? '250 ok');
        } else if (/^DATA/i.test(part)) {
          inData = true;
          say('354 go on');
        } else say(/^QUIT/i.test(part) ? '221 bye' : '250 ok');
        end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n');
      }
    });
  }
}

const NOTICE = { notice: 'totp.enabled' } as const;

describe('mail', () => {
  let fixture: LedgerFixture;
  let folder: string;
  const senders: MailSender[] = [];
  /** The registry of the newest sender. */
  let registry: Registry;

  beforeAll(async () => {
    fixture = await createLedgerFixture();
  });
  afterAll(() => fixture?.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-mail-'));
  });
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  function sender(config: Partial<MailConfig> = {}): MailSender {
    const settings: MailConfig = {
      smtpUrl: undefined,
      from: 'Tollgate <no-reply@tollgate.example>',
      folder: join(folder, 'mail'),
      pollMs: 20,
      giveUpMs: 60_000,
      ...config,
    };
    registry = new Registry();
    const created = new MailSender({
      pool: fixture.billing,
      mailer: openMailer(settings),
      config: settings,
      links: { consoleUrl: 'http://console.example', signUpLifeMs: 86_400_000, resetLifeMs: 3_600_000 },
      log: fixture.log,
      registry,
    });
    senders.push(created);
    created.start();
    return created;
  }

  const received = (email: string) => mailTo({ mailDir: join(folder, 'mail') }, email);

  async function queueNotice(subject = 'A question'): Promise<string> {
    const to = `${newId()}@example.com`;
    const details = { ticketId: newId(), subject };
    await queueMail(fixture.billing, { template: 'ticket_answered', to, details });
    return to;
  }

  const rowOf = async (to: string) => {
    const { rows } = await fixture.owner.query<{
      attempts: number;
      last_error: string | null;
      ended_at: Date | null;
    }>('SELECT attempts, last_error, ended_at FROM mail_outbox WHERE recipient = $1', [to]);
    return rows[0]!;
  };

  it('leaves once its transaction commits, and only then', async () => {
    sender();
    const [lost, kept] = [`${newId()}@example.com`, `${newId()}@example.com`];
    const mail = { template: 'security_notice' as const, details: NOTICE };
    await expect(
      inTransaction(fixture.billing, async (client) => {
        await queueMail(client, { ...mail, to: lost });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await inTransaction(fixture.billing, (client) => queueMail(client, { ...mail, to: kept }));
    await until('the mail that was kept', async () => (await received(kept)).length === 1);
    expect(await received(lost)).toEqual([]);
  });

  it('is handed to a mail server, with a message ID that a second attempt repeats', async () => {
    const server = new SmtpServer();
    server.refusal = '451 later';
    sender({ smtpUrl: await server.listen() });
    const to = await queueNotice('A long line for a mail server: '.repeat(10));
    await until('a try that failed', async () => (await rowOf(to)).last_error);
    expect((await rowOf(to)).ended_at).toBeNull();
    server.refusal = null;
    await fixture.owner.query('UPDATE mail_outbox SET next_attempt_at = now() WHERE recipient = $1', [to]);
    await until('the mail', async () => server.received.length === 1);
    const [mail] = server.received;
    expect(mail!.to).toBe(to);
    expect(mail!.data).toMatch(/^Message-ID: <tollgate-\d+@tollgate\.example>/im);
    await until('its end', async () => (await rowOf(to)).ended_at);
    await server.close();
    const counted = async (line: string) => (await registry.metrics()).includes(line);
    expect(await counted('tollgate_mail_attempts_total{outcome="failed"} 1')).toBe(true);
    await until('its count', () => counted('tollgate_mail_attempts_total{outcome="sent"} 1'));
  });

  it.each(['550 5.1.1 no such user', '553 no such domain'])(
    'is not retried, nor counted as a failure, if the server answers %s',
    async (refusal) => {
      const server = new SmtpServer();
      server.refusal = refusal;
      sender({ smtpUrl: await server.listen() });
      const to = await queueNotice();
      await until('its end', async () => (await rowOf(to)).ended_at);
      expect(await rowOf(to)).toMatchObject({ attempts: 1, last_error: expect.stringContaining(refusal) });
      await server.close();
      const metrics = await registry.metrics();
      expect(metrics).toContain('tollgate_mail_attempts_total{outcome="refused"} 1');
      expect(metrics).toContain('tollgate_mail_attempts_total{outcome="failed"} 0');
    },
  );

  it.each(['550 5.7.1 relaying denied', '554 relay access denied', '452 mailbox full'])(
    'is retried if the server answers %s',
    async (refusal) => {
      const server = new SmtpServer();
      server.refusal = refusal;
      sender({ smtpUrl: await server.listen() });
      const to = await queueNotice();
      await until('a try that failed', async () => (await rowOf(to)).last_error);
      expect((await rowOf(to)).ended_at).toBeNull();
      await server.close();
      expect(await registry.metrics()).toContain('tollgate_mail_attempts_total{outcome="failed"} 1');
    },
  );

  it('is counted by age while it fails', async () => {
    const server = new SmtpServer();
    server.refusal = '452 mailbox full';
    sender({ smtpUrl: await server.listen(), giveUpMs: 86_400_000 });
    const to = await queueNotice();
    await fixture.owner.query(
      `UPDATE mail_outbox SET created_at = now() - interval '2 hours' WHERE recipient = $1`,
      [to],
    );
    const ageS = async () => {
      const [, seconds] = /^tollgate_mail_oldest_failed_seconds (\S+)/m.exec(await registry.metrics()) ?? [];
      return Number(seconds);
    };
    await until('its age', async () => (await ageS()) >= 7_200);
    server.refusal = null;
    await fixture.owner.query('UPDATE mail_outbox SET next_attempt_at = now() WHERE recipient = $1', [to]);
    await until('its end', async () => (await ageS()) < 7_200);
    await server.close();
  });

  it('is sent by the next process if one died while sending it', async () => {
    const to = await queueNotice();
    await fixture.owner.query(
      `UPDATE mail_outbox SET attempts = 1, next_attempt_at = now() + interval '50 milliseconds' WHERE recipient = $1`,
      [to],
    );
    sender();
    await until('the mail', async () => (await received(to)).length === 1);
    expect((await rowOf(to)).attempts).toBe(2);
  });

  it('is sent once by several processes', async () => {
    const people: string[] = [];
    for (let index = 0; index < 40; index += 1) people.push(await queueNotice());
    [sender(), sender(), sender()].forEach((each) => each.wake());
    for (const to of people) await until('each mail', async () => (await rowOf(to)).ended_at);
    for (const to of people) {
      expect((await rowOf(to)).attempts).toBe(1);
      expect(await received(to)).toHaveLength(1);
    }
  });

  it('reports an event once', async () => {
    const to = `${newId()}@example.com`;
    const mail = { template: 'security_notice' as const, to, details: NOTICE, event: `event:${to}` };
    await Promise.all(Array.from({ length: 20 }, () => queueMail(fixture.billing, mail)));
    const { rows } = await fixture.owner.query('SELECT FROM mail_outbox WHERE recipient = $1', [to]);
    expect(rows).toHaveLength(1);
  });

  it('is given up in the end, and its neighbours are sent', async () => {
    await writeFile(join(folder, 'blocked'), 'a file where a folder should be');
    const hopeless = await queueNotice();
    const failing = sender({ folder: join(folder, 'blocked'), giveUpMs: 0 });
    failing.wake();
    await until('the end of the tries', async () => (await rowOf(hopeless)).ended_at);
    expect((await rowOf(hopeless)).last_error).toMatch(/EEXIST|ENOTDIR/);
    await failing.stop();
    sender();
    const next = await queueNotice();
    await until('the next mail', async () => (await received(next)).length === 1);
    expect(await received(hopeless)).toEqual([]);
  });

  it('keeps no token of a link', async () => {
    sender();
    const email = `${newId()}@example.com`;
    const signUpId = newId();
    await fixture.owner.query(
      `INSERT INTO sign_ups (id, email, expires_at) VALUES ($1, $2, now() + interval '1 hour')`,
      [signUpId, email],
    );
    await queueMail(fixture.billing, { template: 'sign_up', to: email, details: { signUpId } });
    const [mail] = await until('the link', async () => {
      const mails = await received(email);
      return mails.length > 0 && mails;
    });
    const token = /#token=([\w-]{43})$/m.exec(mail!.text)![1]!;
    const { rows } = await fixture.owner.query(
      `SELECT row_to_json(m)::text || row_to_json(s)::text AS stored FROM mail_outbox m, sign_ups s
       WHERE m.recipient = $1 AND s.email = $1`,
      [email],
    );
    expect((rows[0] as { stored: string }).stored).not.toContain(token);
  });
});
