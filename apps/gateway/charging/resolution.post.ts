import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { BusTimeout } from '#bus/bus.errors.js';
import { backoffMs } from '#bus/backoff.js';
import type { Bus } from '#bus/bus.js';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import type { Tokens } from '#bus/tokens.js';
import type { ChargeResolved, Reason } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import { crashPoint } from '#platform/crash-points.js';
import type { Logger } from '#platform/logging.js';
import { type SpanFacts, traced } from '#platform/tracing.js';
import { mapCounts, type TokenCounts } from '#pricing/token-kinds.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { GatewayMetrics } from '../gateway.metrics.js';

/** The charge that a resolution is about. */
export interface ResolvedCharge {
  readonly chargeId: string;
  readonly requestId: string;
}

/** The payer, the channel and the outcome. */
export interface ChargeOutcome {
  /** Units delivered to the client. Null if the work failed. */
  readonly delivered: bigint | null;
  /** The usage of delivered work that is priced by the token. */
  readonly tokens?: TokenCounts | undefined;
  readonly channel: string | null;
  readonly reason?: Reason;
  readonly upstreamStatus?: number | null;
  readonly latencyMs?: number;
}

/** How long to wait for an answer to charge.resolved before using the outbox. */
const MAX_REQUESTS = 2;
/** Then the outbox, which takes no longer than one attempt. */
const PUBLISH_ATTEMPTS = MAX_REQUESTS + 1;
/** Pauses between attempts to hand a resolution to the bus or the outbox while both are out of reach. */
const RETRY_BACKOFF = { initialMs: 500, maxMs: 5_000 };

/** When to release a charge whose work has a time limit: not before every way to resolve it has been tried. */
export function deadlineAfter(
  limitAtMs: number,
  { busRequestTimeoutMs, chargeGraceMs }: Pick<GatewayConfig, 'busRequestTimeoutMs' | 'chargeGraceMs'>,
): number {
  return limitAtMs + PUBLISH_ATTEMPTS * busRequestTimeoutMs + chargeGraceMs;
}

/**
 * Sends charge.resolved so that it cannot be lost: over the bus, otherwise through the outbox, otherwise with retries for as
 * long as the process lives. If the process dies too, the charge's deadline releases it: a customer is never charged for our
 * faults.
 */
export class ResolutionPost {
  private readonly retrying = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly bus: Bus,
    private readonly pool: Pool,
    private readonly options: { log: Logger; metrics: GatewayMetrics; wakeOutbox: () => void },
  ) {}

  /** Resolves when the settlement of delivered work is durable, or is being retried in the background. */
  async settle(charge: ResolvedCharge, accountId: string, resolution: ChargeOutcome): Promise<void> {
    crashPoint('delivery.before-resolve');
    const event = chargeResolved(charge, accountId, resolution);
    const ways = [() => this.bus.publish(topics.chargeResolved, event), () => this.outbox(event)];
    await traced('settle', { facts: factsOf(charge, resolution) }, () => this.send(event, ways));
  }

  /** Resolves with true when the release of failed work is committed; with false when it is durable or being retried. */
  async release(charge: ResolvedCharge, accountId: string, resolution: ChargeOutcome): Promise<boolean> {
    const event = chargeResolved(charge, accountId, resolution);
    let isCommitted = false;
    const request = async () => {
      await this.request(event);
      isCommitted = true;
    };
    const ways = [request, () => this.outbox(event)];
    await traced('release', { facts: factsOf(charge, resolution) }, () => this.send(event, ways));
    return isCommitted;
  }

  /** For a hold without an answer: a tombstone refuses it if it still arrives. The bus cannot be trusted here. */
  async abandon(charge: ResolvedCharge, accountId: string): Promise<void> {
    const reason = { code: 'abandoned', message: 'the gateway stopped waiting for the hold' };
    const resolution = { delivered: null, channel: null, reason };
    const event = chargeResolved(charge, accountId, resolution);
    const ways = [() => this.outbox(event), () => this.bus.publish(topics.chargeResolved, event)];
    await traced('abandon', { facts: factsOf(charge, resolution) }, () => this.send(event, ways));
  }

  /** Ends the retries after one more attempt each. */
  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.retrying);
  }

  private async request(event: ChargeResolved): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.bus.request(topics.chargeResolved, event);
        return;
      } catch (error) {
        if (!(error instanceof BusTimeout) || attempt === MAX_REQUESTS) throw error;
      }
    }
  }

  private async outbox(event: ChargeResolved): Promise<void> {
    await this.pool.query(outboxInsert('gateway', [outboxRow(topics.chargeResolved, event)]));
    this.options.wakeOutbox();
  }

  /** Tries each way in turn. If none works, it keeps trying without making the client wait. */
  private async send(event: ChargeResolved, ways: (() => Promise<void>)[]): Promise<void> {
    if (await this.sentBy(ways, event)) return;
    this.options.metrics.undeliverableResolutions.inc();
    const retry = this.keepTrying(event, ways).finally(() => this.retrying.delete(retry));
    this.retrying.add(retry);
  }

  private async sentBy(ways: (() => Promise<void>)[], event: ChargeResolved): Promise<boolean> {
    for (const way of ways) {
      try {
        await way();
        return true;
      } catch (error) {
        const { chargeId, outcome } = event;
        this.options.log.warn(
          { err: error, chargeId, outcome },
          'a resolution could not be sent; trying another way',
        );
      }
    }
    return false;
  }

  /** Also past a charge's deadline: if a sweep was first, billing answers with what it stored. */
  private async keepTrying(event: ChargeResolved, ways: (() => Promise<void>)[]): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 1; !signal.aborted; failures += 1) {
      await pause(backoffMs(failures, RETRY_BACKOFF), undefined, { signal }).catch(() => undefined);
      if (await this.sentBy(ways, event)) return;
    }
    const { chargeId, requestId, outcome } = event;
    this.options.log.error(
      { chargeId, requestId, outcome },
      'a resolution was never sent; the sweeps will release the charge',
    );
  }
}

function factsOf({ chargeId }: ResolvedCharge, { tokens, reason }: ChargeOutcome): SpanFacts {
  return {
    'tollgate.charge.id': chargeId,
    'tollgate.reason': reason?.code,
    'gen_ai.usage.input_tokens': tokens && Number(tokens.input + tokens.cachedInput),
    'gen_ai.usage.output_tokens': tokens && Number(tokens.output),
  };
}

function chargeResolved(
  charge: ResolvedCharge,
  accountId: string,
  resolution: ChargeOutcome,
): ChargeResolved {
  return {
    chargeId: charge.chargeId,
    accountId,
    outcome: resolution.delivered === null ? 'failed' : 'delivered',
    ...(resolution.delivered === null ? {} : { deliveredUnits: String(resolution.delivered) }),
    ...(resolution.tokens && { deliveredTokens: tokensText(resolution.tokens) }),
    channel: resolution.channel,
    reason: resolution.reason ?? null,
    upstreamStatus: resolution.upstreamStatus ?? null,
    latencyMs: resolution.latencyMs === undefined ? null : Math.round(resolution.latencyMs),
    requestId: charge.requestId,
  };
}

/** Tokens as the bus carries them. */
export function tokensText(tokens: TokenCounts): Tokens {
  return mapCounts(tokens, String);
}
