import {
  type BeforeApplicationShutdown,
  Global,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import type { Logger } from '#platform/logging.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { MailSender } from './mail.sender.js';
import { openMailer } from './mailer.js';

@Injectable()
class MailWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(MailSender) private readonly sender: MailSender) {}

  onApplicationBootstrap(): void {
    this.sender.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.sender.stop();
  }
}

/** Mail to people: queued in transactions, sent by a loop. */
@Global()
@Module({
  providers: [
    MailWork,
    {
      provide: MailSender,
      useFactory: (pool: pg.Pool, config: BillingConfig, log: Logger) => {
        const { mail, consoleUrl, people } = config;
        const { signUpLifeMs, resetLifeMs } = people;
        const texts = { consoleUrl, signUpLifeMs, resetLifeMs };
        return new MailSender({ pool, mailer: openMailer(mail), config: mail, texts, log });
      },
      inject: [POOL, CONFIG, LOG],
    },
  ],
  exports: [MailSender],
})
export class MailModule {}
