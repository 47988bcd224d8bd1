import pLimit from 'p-limit';
import { readBillingConfig } from '#apps/billing/billing.config.js';
import { type RunningBilling, startBilling } from '#apps/billing/billing.program.js';
import { readControlPlaneConfig } from '#apps/control-plane/control-plane.config.js';
import { type RunningControlPlane, startControlPlane } from '#apps/control-plane/control-plane.program.js';
import { groups } from '#bus/topics.js';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { ConfigReader } from '#platform/config.js';
import { createRegistry } from '#platform/metrics.js';
import { until } from '../eventually.js';
import type { StripeStandIn } from '../stripe.js';
import { UNTHROTTLED } from '../unthrottled.js';
import type { MonthDatabase } from './month-database.js';

/** Runs everything that follows the postings all the time, so that it overlaps with them. */
const QUICK = {
  // One finance person credits money in suspense. Other tests cover the second person.
  MANUAL_TOPUP_LIMIT: '1000000',
  SECRETS_KEY: 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=',
  SWEEP_INTERVAL_SECONDS: '0.5',
  OUTBOX_POLL_SECONDS: '0.2',
  PAYMENT_RETRY_SECONDS: '1',
  RECOGNITION_SECONDS: '0.7',
  COST_ACCRUAL_SECONDS: '0.9',
  CHAIN_SEAL_SECONDS: '0.6',
  LEDGER_SNAPSHOT_SECONDS: '1',
  // Run explicitly, when nothing is in transit.
  RECONCILE_SECONDS: '86400',
  PROVIDER_REPORT_SECONDS: '86400',
  ...UNTHROTTLED,
};

/**
 * Billing and the control plane as they run for one day: with their loops, and the address for the provider's events.
 */
export class BillingOfTheDay {
  private constructor(
    private readonly programs: { billing: RunningBilling; controlPlane: RunningControlPlane },
    private readonly transport: InProcessTransport,
    private readonly stripe: StripeStandIn,
  ) {}

  static async start(database: MonthDatabase, stripe: StripeStandIn): Promise<BillingOfTheDay> {
    const { log } = database;
    const registry = createRegistry('month');
    const reader = new ConfigReader({ ...QUICK, ...stripe.environment });
    const config = reader.finish({
      billing: readBillingConfig(reader),
      controlPlane: readControlPlaneConfig(reader),
    });
    const transport = new InProcessTransport({ groups: Object.values(groups), log, registry });
    const { billing: pool, billingUrl: databaseUrl } = database;
    const shared = { pool, transport, log, registry };
    const billing = await startBilling({ ...shared, config: config.billing });
    const controlPlane = await startControlPlane({
      ...shared,
      databaseUrl,
      config: config.controlPlane,
      console: { host: '127.0.0.1', port: 0 },
    });
    return new BillingOfTheDay({ billing, controlPlane }, transport, stripe);
  }

  /** The control plane's address. */
  get address(): string {
    return `http://127.0.0.1:${this.programs.controlPlane.consolePort}`;
  }

  /** Delivers events like the provider: repeatedly, until they are accepted. */
  async deliver(events: readonly object[]): Promise<void> {
    const limit = pLimit(8);
    await Promise.all(
      events.map((event) =>
        limit(() =>
          until('an event to be taken', async () => (await this.stripe.deliver(this.address, event)).ok),
        ),
      ),
    );
  }

  async stop(): Promise<void> {
    await this.programs.controlPlane.close();
    await this.programs.billing.close();
    await this.transport.close();
  }
}
