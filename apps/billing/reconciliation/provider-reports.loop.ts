import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { matchBankLines } from '#finance/provider-reports/bank-match.js';
import { postReportLines } from '#finance/provider-reports/line-postings.js';
import { importSandbox } from '#finance/provider-reports/sandbox-books.js';
import { formatMinor } from '#money/currency.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { PaymentNotices } from '../payments/payment.notices.js';
import { importFromStripe } from './stripe.report.js';

/** Asks providers for what moved our balance there, posts what follows, and matches what came to the bank. */
@Injectable()
export class ProviderReports implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
    @Inject(LOG) private readonly log: Logger,
    @Inject(PaymentNotices) private readonly notices: PaymentNotices,
  ) {
    this.loop = new Loop({
      name: 'provider-reports',
      intervalMs: config.providerReportIntervalMs,
      log,
      round: (signal) => this.round(signal),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Begins a round now. */
  wake(): void {
    this.loop.wake();
  }

  /** Posts what reports told, and matches the bank with it; what nobody can explain is told to operators. */
  async digest(signal?: AbortSignal): Promise<void> {
    const { currency } = this.config.payments;
    const { unexplained } = await postReportLines(this.pool, { currency, ...(signal ? { signal } : {}) });
    for (const { provider, lineId, itemId, amountMinor, currency: unit } of unexplained) {
      const amount = `${formatMinor(amountMinor, unit)} ${unit}`;
      this.notices.unexplained(
        { provider, lineId },
        `${amount} at ${provider} is unexplained: suspense ${itemId}.`,
      );
    }
    await matchBankLines(this.pool, currency);
  }

  /** A provider that does not answer keeps nobody else waiting. */
  private async round(signal: AbortSignal): Promise<void> {
    const { stripe, sandbox } = this.config.payments;
    const work: [provider: string, run: () => Promise<unknown>][] = [];
    if (sandbox) work.push(['sandbox', () => importSandbox(this.pool, 'system')]);
    if (stripe)
      work.push([
        'stripe',
        async () => {
          const fetched = await importFromStripe(this.pool, stripe, { from: null, actor: 'system', signal });
          for (const missing of fetched.missingPayouts ?? [])
            this.log.warn(missing, 'it could not be asked what a payout is made of; it is tried again');
        },
      ]);
    for (const [provider, run] of work) {
      try {
        await run();
      } catch (error) {
        if (signal.aborted) return;
        this.log.warn({ err: error, provider }, 'a report could not be imported; it is tried again');
      }
    }
    await this.digest(signal);
  }
}
