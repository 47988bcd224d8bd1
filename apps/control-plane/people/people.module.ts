import { Module } from '@nestjs/common';
import { AttemptsStore } from '#identity/attempts.store.js';
import { PasswordHasher } from '#identity/password.hasher.js';
import { Loop } from '#platform/loop.js';
import { MailSender } from '#mail/mail.sender.js';
import { AuditReader } from '#people/audit.reader.js';
import { CodeCheck } from '#people/code-check.js';
import { ConfirmationService } from '#people/confirmation.service.js';
import { EmailService } from '#people/email.service.js';
import { PasswordService } from '#people/password.service.js';
import { RoleGrants } from '#people/role-grants.js';
import { RolesService } from '#people/roles.service.js';
import { SignInService } from '#people/sign-in.service.js';
import { SignUpService } from '#people/sign-up.service.js';
import { TotpService } from '#people/totp.service.js';
import { job, provided, constructed } from '#platform/wiring.js';
import { SessionStore } from '#identity/session.store.js';
import { POOL, type Shared, SHARED, SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { AdminController } from './admin.controller.js';
import { EmailController } from './email.controller.js';
import { Entrance } from './entrance.js';
import { PasswordController } from './password.controller.js';
import { TotpController } from './totp.controller.js';
import { SessionController } from './session.controller.js';
import { SignUpController } from './sign-up.controller.js';

const CLEANING_INTERVAL_MS = 600_000;
const MAX_PURGED = 1_000;

/** Removes expired links and counters of attempts. */
function cleaningLoop({ pool, attempts, log }: Shared & { attempts: AttemptsStore }): Loop {
  const round = async () => {
    for (const table of ['sign_ups', 'password_resets', 'email_changes']) {
      await pool.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE expires_at < now()
         LIMIT ${MAX_PURGED} FOR UPDATE SKIP LOCKED))`,
      );
    }
    await attempts.purge();
  };
  return new Loop({ name: 'cleaning of people', intervalMs: CLEANING_INTERVAL_MS, log, round });
}

/** Where the parts that all of them take come from. */
const PEOPLE_PARTS = {
  ...SHARED,
  attempts: AttemptsStore,
  hasher: PasswordHasher,
  sessions: SessionStore,
  mail: MailSender,
};

/** People: who they are, how they sign in, and what they may do. */
@Module({
  controllers: [
    SessionController,
    SignUpController,
    PasswordController,
    TotpController,
    EmailController,
    AdminController,
  ],
  providers: [
    job(cleaningLoop, { ...SHARED, attempts: AttemptsStore }),
    Entrance,
    provided(SignUpService, PEOPLE_PARTS),
    provided(SignInService, { ...PEOPLE_PARTS, codes: CodeCheck }),
    provided(PasswordService, { ...PEOPLE_PARTS, codes: CodeCheck }),
    provided(EmailService, { ...PEOPLE_PARTS, passwords: PasswordService }),
    provided(TotpService, { ...PEOPLE_PARTS, passwords: PasswordService, codes: CodeCheck }),
    provided(CodeCheck, PEOPLE_PARTS),
    provided(ConfirmationService, { ...PEOPLE_PARTS, passwords: PasswordService, codes: CodeCheck }),
    constructed(RolesService, POOL),
    provided(RoleGrants, SHARED_WITH_APPROVALS),
    constructed(AuditReader, POOL),
    constructed(PasswordHasher),
    constructed(AttemptsStore, POOL),
  ],
  exports: [RolesService, PasswordService, SignInService, Entrance, AttemptsStore],
})
export class PeopleModule {}
