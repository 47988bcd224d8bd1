import { Global, Module } from '@nestjs/common';
import { providedBy, running } from '#platform/wiring.js';
import { MailSender } from '#mail/mail.sender.js';
import { openMailer } from '#mail/mailer.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';

function newSender({ pool, config, log, registry }: Shared): MailSender {
  const { mail, consoleUrl, people } = config;
  const { signUpLifeMs, resetLifeMs } = people;
  const links = { consoleUrl, signUpLifeMs, resetLifeMs };
  return new MailSender({ pool, mailer: openMailer(mail), config: mail, links, log, registry });
}

/** Mail to people: queued in transactions, sent by a loop. */
@Global()
@Module({
  providers: [providedBy(MailSender, newSender, SHARED), running(MailSender)],
  exports: [MailSender],
})
export class MailModule {}
