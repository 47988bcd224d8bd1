import { Module } from '@nestjs/common';
import { DataExports } from '#privacy/data-export.js';
import { AccountDeletionService } from '#people/accounts/account-deletion.service.js';
import { Counter } from '#platform/metrics.js';
import { provided, providedBy } from '#platform/wiring.js';
import { PasswordService } from '#people/password.service.js';
import { SignInService } from '#people/sign-in.service.js';
import { TicketService } from '#support/ticket.service.js';
import { type Shared, SHARED, SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { PeopleModule } from '../people/people.module.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { ActivityController } from './activity.controller.js';
import { DeletionController } from './deletion.controller.js';
import { ExportController } from './export.controller.js';
import { privacyJobs } from './privacy.jobs.js';
import { RetentionController } from './retention.controller.js';

/** What customers may know and decide about their own data. */
@Module({
  imports: [PeopleModule, TicketsModule],
  controllers: [ActivityController, DeletionController, ExportController, RetentionController],
  providers: [
    provided(AccountDeletionService, {
      ...SHARED_WITH_APPROVALS,
      passwords: PasswordService,
      signIns: SignInService,
      tickets: TicketService,
    }),
    ...privacyJobs,
    providedBy(DataExports, dataExports, SHARED),
  ],
})
export class PrivacyModule {}

function dataExports({ pool, config: { privacy }, log, registry }: Shared): DataExports {
  const failed = new Counter({
    name: 'tollgate_data_exports_failed_total',
    help: 'Exports of personal data that were given up, except those that are too large.',
    registers: [registry],
  });
  const onFailed = (exportId: string) => {
    failed.inc();
    log.error({ exportId }, 'an export was given up');
  };
  return new DataExports({
    pool,
    lifeMs: privacy.retention.exports,
    maxBytes: privacy.exportMaxBytes,
    onFailed,
  });
}
