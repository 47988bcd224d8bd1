import { formatAmount, nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import type { UsageMeter } from '#upstream/usage-meter.js';
import { noChannelFree, workOf } from '../charging/channel-entry.js';
import { refusalOfUpstream } from '../charging/vendor-model.js';
import type { Ending } from './answer.relay.js';
import type { ConversationParts, ConversationFailure, Held } from './conversation.call.js';
import { type DeliveredAnswer, deliveryOf } from './conversation.delivery.js';

type SettlementParts = Pick<
  ConversationParts,
  'calls' | 'post' | 'health' | 'config' | 'clock' | 'metrics' | 'log'
>;

/** Resolves the charge of a conversation once, by its outcome, and decides what the client receives. */
export class ConversationSettlement {
  constructor(private readonly parts: SettlementParts) {}

  /** The delivered content. Usage beyond the hold is logged, because the operator bears it. */
  deliveryOf(held: Held, ending: Ending, meter: UsageMeter): DeliveredAnswer | null {
    const { hold, model } = held;
    const delivery = deliveryOf(held, ending, meter);
    const excess = delivery ? excessOf(held, delivery, meter) : 0n;
    if (excess > 0n) {
      const { chargeId, requestId, amount } = hold;
      const facts = { chargeId, requestId, model: model.id, held: formatAmount(amount) };
      this.parts.log.warn(
        { ...facts, excess: formatAmount(nanos(excess)) },
        'an answer used more than was held for it; the operator bears the excess',
      );
      this.parts.metrics.exceededHolds.inc({ model: model.id });
    }
    return delivery;
  }

  async settle(
    held: Held,
    opened: Pick<ConversationFailure, 'channel'> & { status: number | null },
    { units, tokens }: DeliveredAnswer,
  ): Promise<void> {
    const { hold, startedAt } = held;
    await this.parts.post.settle(hold, hold.accountId, {
      delivered: units,
      tokens,
      channel: opened.channel,
      upstreamStatus: opened.status,
      latencyMs: performance.now() - startedAt,
    });
  }

  /** @returns the error for the client */
  async release(
    { hold, startedAt }: Held,
    failed: {
      channel: string | null;
      upstreamStatus: number | null;
      error: ApiError | null;
      /** No upstream began the work. */
      isUntaken?: boolean;
    },
  ): Promise<ApiError | null> {
    const { channel, upstreamStatus, error } = failed;
    const latencyMs = performance.now() - startedAt;
    const reason = error ? { code: error.code, message: error.message } : clientLeft;
    const outcome = { channel, reason, upstreamStatus, latencyMs };
    if (error) return this.parts.calls.release(hold, outcome, error);
    if (failed.isUntaken) await this.parts.calls.releaseUntaken(hold, outcome);
    else await this.parts.post.release(hold, hold.accountId, { ...outcome, delivered: null });
    return null;
  }

  /** What the client receives for a broken answer. Null for a complete one, or if the client has left. */
  faultOf({ limitAtMs, model }: Held, ending: Ending, delivery: DeliveredAnswer | null): ApiError | null {
    if (ending.how !== 'broken') return null;
    const { clock, config } = this.parts;
    const isLate = clock.elapsedMs() >= limitAtMs;
    const what = isLate ? `took longer than ${config.streamLimitMs / 1000} seconds` : 'broke off';
    const cost = delivery ? 'Only what was sent of it is charged.' : 'Nothing was charged.';
    return new ApiError('generation_failed', `The answer of ${model.id} ${what}. ${cost}`, {
      shouldRetry: false,
    });
  }

  /** What the client receives if an upstream did not answer. */
  errorFor({ model, caller, channels }: Held, failure: ConversationFailure): ApiError {
    switch (failure.kind) {
      case 'refused':
        return refusalOfUpstream(failure);
      case 'not_accepted':
        return noChannelFree(
          model.id,
          this.parts.health.retryAfterSeconds(channels, workOf(caller, model).model),
        );
      case 'unknown':
        return new ApiError('generation_failed', `${model.id} did not answer. Nothing was charged.`, {
          shouldRetry: false,
        });
    }
  }

  /** Logs for operators that an upstream did not answer. */
  report(
    { hold, model, kind }: Held,
    { channel }: { channel: string | null },
    what: ConversationFailure | Ending,
  ): void {
    const { chargeId, requestId } = hold;
    const facts = { requestId, chargeId, model: model.id, kind, channel };
    const why =
      'how' in what ? { reason: what.how === 'broken' ? what.reason : what.how } : failureFacts(what);
    this.parts.log.warn({ ...facts, ...why }, 'an upstream did not answer a conversation');
  }
}

/** The cost of usage beyond the hold, by tokens or reported seconds. */
function excessOf({ hold, model }: Held, { tokens }: DeliveredAnswer, { seconds }: UsageMeter): bigint {
  if (tokens) return hold.excessOf(tokens);
  const cost = model.unit === 'second' && seconds !== undefined ? hold.amountOf(seconds) : 0n;
  return cost > hold.amount ? cost - hold.amount : 0n;
}

const clientLeft = { code: 'client_left', message: 'The client left before anything was produced.' };

function failureFacts(failure: ConversationFailure): object {
  const { kind, upstreamStatus } = failure;
  return { outcome: kind, upstreamStatus, reason: kind === 'refused' ? failure.code : failure.reason };
}
