import type pg from 'pg';
import { moneyText } from '#money/currency.js';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';
import type { PaymentNotices } from '#payments/payment.notices.js';
import type { PaymentsConfig, StripeConfig } from '#payments/payments.config.js';
import { matchBankLines } from './bank/bank-match.js';
import { postReportLines } from './line-postings.js';
import { importSandbox } from './sandbox-books.js';
import { importFromStripe } from './stripe.report.js';

export interface ProviderReportsParts {
  readonly pool: pg.Pool;
  readonly config: { readonly payments: PaymentsConfig; readonly providerReportIntervalMs: number };
  readonly log: Logger;
  readonly notices: Pick<PaymentNotices, 'unexplained'>;
}

/** Fetches our balance movements from providers, posts what follows from them, and matches what reached the bank. */
export class ProviderReports extends Looping {
  constructor(private readonly parts: ProviderReportsParts) {
    super({
      name: 'provider-reports',
      intervalMs: parts.config.providerReportIntervalMs,
      log: parts.log,
    });
  }

  /** Posts what reports say and matches it with the bank. Anything unexplained is reported to operators. */
  async digest(signal?: AbortSignal): Promise<void> {
    const { currency } = this.parts.config.payments;
    const { unexplained } = await postReportLines(this.parts.pool, {
      currency,
      ...(signal ? { signal } : {}),
    });
    for (const { provider, lineId, itemId, amountMinor, currency: unit } of unexplained) {
      const amount = moneyText(amountMinor, unit);
      this.parts.notices.unexplained(
        { provider, lineId },
        `${amount} at ${provider} is unexplained: suspense ${itemId}.`,
      );
    }
    await matchBankLines(this.parts.pool, currency);
  }

  /** A provider that does not answer does not block the others. */
  protected async round(signal: AbortSignal): Promise<void> {
    const { stripe, sandbox } = this.parts.config.payments;
    const work: [provider: string, run: () => Promise<unknown>][] = [];
    if (sandbox) work.push(['sandbox', () => importSandbox(this.parts.pool, 'system')]);
    if (stripe) work.push(['stripe', () => this.importStripe(stripe, signal)]);
    for (const [provider, run] of work) {
      try {
        await run();
      } catch (error) {
        if (signal.aborted) return;
        this.parts.log.warn({ err: error, provider }, 'a report could not be imported; it is retried');
      }
    }
    await this.digest(signal);
  }

  private async importStripe(stripe: StripeConfig, signal: AbortSignal): Promise<void> {
    const asked = { from: null, actor: 'system', signal };
    const { missingPayouts = [] } = await importFromStripe(this.parts.pool, stripe, asked);
    for (const missing of missingPayouts)
      this.parts.log.warn(missing, 'the lines of a payout could not be fetched; it is retried');
  }
}
