import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { AdjustmentDesk } from '#finance/adjustments/adjustment.service.js';
import { ApprovalDesk } from '#approvals/approval.service.js';
import { ENTITIES } from '#operations/entities.js';
import { readPaymentCurrency } from '#payments/payments.config.js';
import { RefundDesk as TopupRefundDesk } from '#payments/topup-refund.service.js';
import { SuspenseDesk } from '#payments/suspense.service.js';
import { TransferDesk } from '#payments/transfer.service.js';
import { RoleGrants } from '#people/role-grants.js';
import { WaiverDesk } from '#finance/periods/waiver.service.js';
import { registerDeletions } from '#people/accounts/account-deletion.approval.js';
import { readDeletionGrace } from '#privacy/privacy.config.js';
import { LineDesk } from '#finance/provider-reports/line.service.js';
import { RefundDesk } from '#support/charge-refund.service.js';
import { TicketDesk } from '#support/ticket.service.js';
import { openDataSource } from '#database/database.js';
import { ConfigReader } from '#platform/config.js';
import { withDatabase } from './database.access.js';

/** The desks of the console for the command line: what needs a second person there needs one here. */
export interface Desks {
  pool: pg.Pool;
  source: DataSource;
  /** ISO 4217. */
  currency: string;
  approvals: ApprovalDesk;
  adjustments: AdjustmentDesk;
  transfers: TransferDesk;
  lines: LineDesk;
  grants: RoleGrants;
}

/** A running relay looks for what is announced by itself. */
const NOBODY_WAITS = { wake: () => undefined };
/** Providers are asked by billing, which finds what was begun. */
const BY_BILLING = { run: () => Promise.resolve(null) };
const WAIVER_LIMIT_MS = 600_000;

export function withDesks<T>(env: NodeJS.ProcessEnv, work: (desks: Desks) => Promise<T>): Promise<T> {
  const reader = new ConfigReader(env);
  const { currency, graceMs } = reader.finish({
    currency: readPaymentCurrency(reader),
    graceMs: readDeletionGrace(reader),
  });
  return withDatabase(env, async (pool, url) => {
    const source = await openDataSource({ url, max: 2, applicationName: 'tollgate-cli', entities: ENTITIES });
    try {
      return await work(openDesks({ pool, source, currency }, graceMs));
    } finally {
      await source.destroy();
    }
  });
}

function openDesks(parts: Pick<Desks, 'pool' | 'source' | 'currency'>, graceMs: number): Desks {
  const { pool, source, currency } = parts;
  const approvals = new ApprovalDesk({ source });
  const config = { payments: { currency } };
  const tickets = new TicketDesk(source);
  // Those that are only decided here register what they apply.
  new RefundDesk({ source, pool, tickets, approvals, relay: NOBODY_WAITS });
  new TopupRefundDesk({ source, approvals, runner: BY_BILLING });
  new SuspenseDesk({ source, config, approvals, relay: NOBODY_WAITS });
  registerDeletions(approvals, { graceMs: () => graceMs, wake: NOBODY_WAITS.wake });
  new WaiverDesk({ source, pool, approvals, limitMs: WAIVER_LIMIT_MS });
  const inbox = { currency, accept: () => Promise.reject(new Error('billing takes events of payments')) };
  return {
    ...parts,
    approvals,
    adjustments: new AdjustmentDesk({ source, approvals }),
    transfers: new TransferDesk({ source, config, approvals, relay: NOBODY_WAITS }),
    lines: new LineDesk({ pool, inbox, source, approvals }),
    grants: new RoleGrants({ source, approvals }),
  };
}

/** What is said of something that another person must agree to first. */
export function waitingFor(approvalId: string): string {
  return `It waits for another person: \`tollgate approvals approve ${approvalId}\`, or the approvals of the console.`;
}
