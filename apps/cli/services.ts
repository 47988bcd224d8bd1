import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { readPaymentCurrency } from '#payments/payments.config.js';
import { TopupRefundService } from '#payments/topup-refund.service.js';
import { SuspenseService } from '#payments/suspense/suspense.service.js';
import { TransferService } from '#payments/transfer.service.js';
import { RoleGrants } from '#people/role-grants.js';
import { WaiverService } from '#finance/periods/waiver.service.js';
import { registerDeletions } from '#people/accounts/account-deletion.approval.js';
import { readDeletionGrace } from '#privacy/privacy.config.js';
import { LineService } from '#finance/provider-reports/line.service.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { TicketService } from '#support/ticket.service.js';
import { ConfigReader } from '#platform/config.js';
import { onDatabase, withSource } from './database.access.js';

/** The console's services for the command line. What needs a second person there needs one here. */
export interface Services {
  pool: pg.Pool;
  source: DataSource;
  /** ISO 4217. */
  currency: string;
  approvals: ApprovalService;
  adjustments: AdjustmentService;
  transfers: TransferService;
  lines: LineService;
  grants: RoleGrants;
}

/** A running relay finds events in the outbox by itself. */
const NOBODY_WAITS = { wake: () => undefined };
/** The control plane asks the providers; it finds what was begun here. */
const BY_CONTROL_PLANE = { run: () => Promise.resolve(null) };
const WAIVER_LIMIT_MS = 600_000;

export function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const reader = new ConfigReader(process.env);
  const { currency, graceMs } = reader.finish({
    currency: readPaymentCurrency(reader),
    graceMs: readDeletionGrace(reader),
  });
  return onDatabase((pool, url) =>
    withSource(url, (source) => work(openServices({ pool, source, currency }, graceMs))),
  );
}

function openServices(parts: Pick<Services, 'pool' | 'source' | 'currency'>, graceMs: number): Services {
  const { pool, source, currency } = parts;
  const approvals = new ApprovalService(source);
  const config = { payments: { currency } };
  const tickets = new TicketService(source);
  // Approvals that are only decided here register what they apply.
  new ChargeRefundService({ source, pool, tickets, approvals, relay: NOBODY_WAITS });
  new TopupRefundService({ source, approvals, runner: BY_CONTROL_PLANE });
  new SuspenseService({ source, config, approvals, relay: NOBODY_WAITS });
  registerDeletions(approvals, { graceMs: () => graceMs, wake: NOBODY_WAITS.wake });
  new WaiverService({ source, pool, approvals, limitMs: WAIVER_LIMIT_MS });
  return {
    ...parts,
    approvals,
    adjustments: new AdjustmentService({ source, approvals }),
    transfers: new TransferService({ source, config, approvals, relay: NOBODY_WAITS }),
    lines: new LineService({ pool, inbox: { currency }, source, approvals }),
    grants: new RoleGrants({ source, approvals }),
  };
}

/** What is said of something that another person must agree to first. */
export function waitingFor(approvalId: string): string {
  return `Waiting for another person: \`tollgate approvals approve ${approvalId}\`, or Approvals in the console.`;
}
