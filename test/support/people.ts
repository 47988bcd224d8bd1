import { TOTP } from 'otpauth';
import { randomBytes } from 'node:crypto';
import { inTransaction } from '#database/database.js';
import { AttemptsStore } from '#identity/attempts.store.js';
import { PasswordHasher } from '#identity/password.hasher.js';
import type { Actor } from '#identity/role.js';
import { countDaily } from '#identity/daily-limits.js';
import { type OpenedSession, SessionStore } from '#identity/session.store.js';
import { writeMail } from '#mail/mail.writer.js';
import { CodeCheck } from '#people/code-check.js';
import { ConfirmationService } from '#people/confirmation.service.js';
import { EmailService } from '#people/email.service.js';
import { PasswordService } from '#people/password.service.js';
import { readPeopleConfig } from '#people/people.config.js';
import type { PeopleParts } from '#people/people.parts.js';
import { SignInService } from '#people/sign-in.service.js';
import { SignUpService } from '#people/sign-up.service.js';
import { TotpService } from '#people/totp.service.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { ConfigReader } from '#platform/config.js';
import { newId } from '#platform/ids.js';
import { SecretBox } from '#platform/sealed-secret.js';
import { createLedgerFixture, type LedgerFixture } from './ledger.js';
import { type ReceivedMail, tokenIn } from './mail.js';
import { NOBODY_WAITS } from './payments.js';

/** The sign-in services, set up as in the control plane, with a clock for one-time codes that specs can move. */
export interface PeopleFixture {
  ledger: LedgerFixture;
  clock: ManualClock;
  sessions: SessionStore;
  signUps: SignUpService;
  signIns: SignInService;
  passwords: PasswordService;
  totp: TotpService;
  confirmations: ConfirmationService;
  emails: EmailService;
  close(): Promise<void>;
}

/** The refusal of a used, replaced or expired link. */
export const deadLink = { code: 'invalid_value', param: 'token' };

export const PASSWORD = 'seven lanterns by the quay';

const CONSOLE = 'http://console.test';
const HOUR_MS = 3_600_000;
const LIFE = { idleMs: HOUR_MS, longestMs: HOUR_MS, rotateMs: HOUR_MS, confirmedMs: HOUR_MS };

/** @param env settings, such as limits on attempts */
export async function openPeople(env: NodeJS.ProcessEnv = {}): Promise<PeopleFixture> {
  const ledger = await createLedgerFixture();
  const { billing: pool } = ledger;
  await Promise.all(Array.from({ length: 8 }, () => pool.query('SELECT 1')));
  const reader = new ConfigReader(env);
  const people = reader.finish(readPeopleConfig(reader, CONSOLE));
  const clock = new ManualClock(Date.now());
  const parts: PeopleParts = {
    pool,
    clock,
    config: { people, secrets: new SecretBox([randomBytes(32)]), consoleUrl: CONSOLE },
    attempts: new AttemptsStore(pool),
    hasher: new PasswordHasher(),
    sessions: new SessionStore(pool, LIFE),
    mail: NOBODY_WAITS,
  };
  const codes = new CodeCheck(parts);
  const passwords = new PasswordService({ ...parts, codes });
  return {
    ledger,
    clock,
    passwords,
    sessions: parts.sessions,
    signUps: new SignUpService(parts),
    signIns: new SignInService({ ...parts, codes }),
    totp: new TotpService({ ...parts, passwords, codes }),
    confirmations: new ConfirmationService({ ...parts, passwords, codes }),
    emails: new EmailService({ ...parts, passwords }),
    close: () => ledger.close(),
  };
}

let addresses = 0;

/** A new network address, because attempts are counted per address. */
export function newOrigin(): { ip: string; userAgent: null } {
  addresses += 1;
  return { ip: `10.${addresses >> 8}.${addresses & 255}.1`, userAgent: null };
}

export function newEmail(): string {
  return `${newId()}@example.com`;
}

/** The newest mail to an address, as it would be sent now; null if there is none. */
export async function lastMail(
  { ledger }: Pick<PeopleFixture, 'ledger'>,
  email: string,
): Promise<ReceivedMail | null> {
  const { rows } = await ledger.owner.query<Parameters<typeof writeMail>[1]>(
    'SELECT template, recipient AS "to", details FROM mail_outbox WHERE recipient = $1 ORDER BY id DESC LIMIT 1',
    [email],
  );
  const links = { consoleUrl: CONSOLE, signUpLifeMs: HOUR_MS, resetLifeMs: HOUR_MS };
  const mail = rows[0] ? await writeMail(ledger.billing, rows[0], links) : null;
  return mail && { to: email, ...mail };
}

/** The token in the link of the newest mail to an address. */
export async function mailedToken(people: Pick<PeopleFixture, 'ledger'>, email: string): Promise<string> {
  const mail = await lastMail(people, email);
  if (!mail) throw new Error(`no mail to ${email}`);
  return tokenIn(mail);
}

/** A person who has signed up, with their new session. */
export async function signedUp(
  people: PeopleFixture,
): Promise<{ email: string; actor: Actor; session: OpenedSession }> {
  const email = newEmail();
  await people.signUps.request({ email }, newOrigin());
  const token = await mailedToken(people, email);
  const session = await people.signUps.confirm({ token, password: PASSWORD }, newOrigin());
  const found = await people.sessions.find(session.token);
  return { email, session, actor: found!.actor };
}

/** Codes from an enrolled device. `next` uses a time step that was not used before. */
export async function enrolled(
  { totp, clock }: PeopleFixture,
  actor: Actor,
): Promise<{ next: () => string; recovery: string[] }> {
  const { secret } = await totp.enrol(actor, PASSWORD);
  const device = new TOTP({ secret });
  const next = () => {
    clock.advance(30_000);
    return device.generate({ timestamp: clock.nowMs() });
  };
  return { next, recovery: await totp.confirm(actor, next(), newId()) };
}

/** As if an account had done something so many times on this day. */
export async function doneToday(
  { ledger }: Pick<PeopleFixture, 'ledger'>,
  { accountId }: Actor,
  { times, what }: { times: number; what: Parameters<typeof countDaily>[2] },
): Promise<void> {
  await inTransaction(ledger.billing, async (client) => {
    for (let time = 0; time < times; time += 1) await countDaily(client, accountId, what);
  });
}
