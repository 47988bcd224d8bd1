import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { endTopupRefund, findTopupRefund, type TopupRefund } from '#ledger/postings/topup-refund.js';
import { crashPoint } from '#platform/crash-points.js';
import { eachInTurn } from '#platform/waiting.js';
import type { Logger } from '#platform/logging.js';
import type { PaymentsConfig } from './payments.config.js';
import type { PaymentNotices } from './payment.notices.js';
import type { PaymentProviders, ProviderRefund } from './payment.provider.js';

export interface RefundRunnerParts {
  readonly pool: pg.Pool;
  readonly config: { readonly payments: PaymentsConfig };
  readonly log: Logger;
  readonly providers: PaymentProviders;
  readonly notices: Pick<PaymentNotices, 'broughtBack'>;
}

/**
 * Completes pending refunds: asks the provider with the refund's own id, and ends the refund with its answer. After a
 * crash anywhere in between, it is still pending, and the next round asks again.
 */
export class RefundRunner {
  constructor(private readonly parts: RefundRunnerParts) {}

  /** Never throws because of a provider. Then, the refund stays pending. */
  async run(refundId: string): Promise<TopupRefund | null> {
    const attempts = await this.claim(refundId);
    const refund = await findTopupRefund(this.parts.pool, refundId);
    if (attempts === null || refund?.state !== 'pending') return refund;
    const answer = await this.ask(refund, attempts > 1);
    crashPoint('refund.answered');
    if (answer === null) return refund;
    const { state: outcome, providerRefundId } = answer;
    if (outcome === 'pending') {
      // A person or an event may have ended it meanwhile, with an id of its own.
      await this.parts.pool.query(
        `UPDATE topup_refunds SET provider_refund_id = $2 WHERE id = $1 AND state = 'pending'`,
        [refundId, providerRefundId],
      );
      return findTopupRefund(this.parts.pool, refundId);
    }
    const failure = 'failure' in answer ? answer.failure : null;
    const ended = await inTransaction(this.parts.pool, (client) =>
      endTopupRefund(client, { refundId, providerRefundId, outcome, failure }),
    );
    if (ended.isBack) this.parts.notices.broughtBack(ended);
    return ended;
  }

  /** Runs the due refunds, oldest first. Returns whether there may be more. */
  async runDue(limit: number, signal: AbortSignal): Promise<boolean> {
    const { rows } = await this.parts.pool.query<{ id: string }>(
      `SELECT id FROM topup_refunds WHERE state = 'pending' AND next_try_at <= now() ORDER BY next_try_at LIMIT $1`,
      [limit],
    );
    await eachInTurn(rows, ({ id }) => this.run(id), signal);
    return rows.length === limit;
  }

  /** Counts the attempt before it is made, and reserves the refund meanwhile. */
  private async claim(refundId: string): Promise<number | null> {
    const { rows } = await this.parts.pool.query<{ attempts: number }>(
      `UPDATE topup_refunds SET attempts = attempts + 1,
         next_try_at = now() + least(greatest(now() - created_at, $2::float8 * interval '1 millisecond'), interval '1 hour')
       WHERE id = $1 AND state = 'pending' AND (attempts = 0 OR next_try_at <= now()) RETURNING attempts`,
      [refundId, this.parts.config.payments.retryMs],
    );
    return rows[0]?.attempts ?? null;
  }

  private async ask(refund: TopupRefund, isRepeat: boolean): Promise<ProviderRefund | null> {
    const { id: refundId, provider: name, paymentId, paidMinor: amountMinor, currency } = refund;
    const provider = this.parts.providers.get(name);
    try {
      if (!provider) throw new Error(`the provider ${name} is not configured`);
      return await provider.refund({ refundId, paymentId, amountMinor, currency, isRepeat });
    } catch (error) {
      this.parts.log.warn(
        { err: error, refundId, provider: name },
        'a refund could not be requested; it is retried later',
      );
      return null;
    }
  }
}
