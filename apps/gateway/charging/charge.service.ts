import { BusTimeout } from '#bus/bus.errors.js';
import type { Bus } from '#bus/bus.js';
import type { ChargeReply, ChargeRequested, RefusalCode } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { CatalogModel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { formatAmount, type Nanos, nanos, ZERO } from '#money/amount.js';
import type { Clock } from '#platform/clock.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError, type ErrorCode } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import { traced } from '#platform/tracing.js';
import { amountOfUnits, linesAmount, type Quote, quote, withTokens } from '#pricing/quote.js';
import type { DimensionName, Dimensions } from '#pricing/rates.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import { noSuchModel } from '../http/model-access.js';
import { serviceUnavailable } from '#platform/http/refusal.js';
import { tokensText } from './resolution.post.js';

/** What to hold before work starts. The charge ID is created, and for tasks saved, before the hold is requested. */
export interface ChargeOrder {
  readonly chargeId: string;
  readonly caller: Caller;
  readonly model: CatalogModel;
  /** Images, whole seconds or calls. */
  readonly units: bigint;
  /** The most tokens that work priced by the token can use. */
  readonly tokens?: TokenCounts | undefined;
  /** The requested values that rates can depend on. */
  readonly dimensions?: Dimensions | undefined;
  /** When the charge is released if nothing has ended it, by the elapsed time. Null for a task, which ends its charge itself. */
  readonly deadlineMs: number | null;
  readonly taskId: string | null;
  readonly requestId: string;
}

/** The work that an order is priced by. */
export type PricedOrder = Pick<ChargeOrder, 'caller' | 'model' | 'units' | 'tokens' | 'dimensions'>;

/** Money held for one charge. */
export interface Hold {
  readonly chargeId: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly amount: Nanos;
  /** The values that the price depends on. They must be sent to the upstream. */
  readonly ratedBy: readonly DimensionName[];
  /** The cost of some of the units, by the price versions of the hold. */
  amountOf(units: bigint): Nanos;
  /** The cost of the used tokens, at most the held amount. For work priced by units, the held amount. */
  amountOfTokens(tokens: TokenCounts): Nanos;
  /** The cost of used tokens beyond the hold, which nobody pays. 0 for work priced by units. */
  excessOf(tokens: TokenCounts): Nanos;
}

/** A price may change between the quote and the hold. Three changes within one request are a bug, not bad luck. */
const MAX_QUOTES = 3;

/** Refusals that clients see under a different code than the ledger's. All others keep their code. */
const CODE_FOR_CLIENT: Partial<Record<RefusalCode, ErrorCode>> = {
  key_revoked: 'invalid_api_key',
  key_expired: 'invalid_api_key',
};
/** Refusals that are not the client's fault: the same request could pass a moment later. */
const OURS: readonly RefusalCode[] = ['expired', 'abandoned', 'stale_quote'];

/**
 * `refused` is stored under the charge ID. `undecided` is not, and can still become a hold: the caller must end the charge as
 * failed, so that a late hold is refused or released.
 */
export type HoldOutcome =
  | { kind: 'held'; hold: Hold }
  | { kind: 'refused'; error: ApiError }
  | { kind: 'undecided'; error: ApiError };

export interface ChargeServiceOptions {
  clock: Clock;
  log: Logger;
  metrics: GatewayMetrics;
  holdExpiresMs: number;
  /** Called with the request of each hold before its caller gets the answer. */
  onHeld: (requestId: string) => void;
}

/** Asks billing for a hold. The ledger decides; the quote made here only has to agree with it. */
export class ChargeService {
  constructor(
    private readonly bus: Bus,
    private readonly catalog: CatalogCache,
    private readonly options: ChargeServiceOptions,
  ) {}

  /** Never throws because of billing or the bus. */
  async hold(order: ChargeOrder): Promise<HoldOutcome> {
    const outcome = await this.outcomeTraced(order);
    this.options.metrics.holds.inc({
      outcome: outcome.kind === 'refused' ? outcome.error.code : outcome.kind,
    });
    if (outcome.kind === 'held') {
      this.options.onHeld(order.requestId);
      crashPoint('charge.held');
    }
    return outcome;
  }

  private outcomeTraced(order: ChargeOrder): Promise<HoldOutcome> {
    const { chargeId, model } = order;
    const facts = { 'tollgate.charge.id': chargeId, 'gen_ai.request.model': model.id };
    return traced('hold', { facts }, async (span) => {
      const outcome = await this.outcomeOf(order);
      if (outcome.kind === 'held') span.note({ 'tollgate.hold.amount': formatAmount(outcome.hold.amount) });
      else span.fail(outcome.error.code);
      return outcome;
    });
  }

  private async outcomeOf(order: ChargeOrder): Promise<HoldOutcome> {
    try {
      return await this.agreeOnPrice(order);
    } catch (error) {
      if (error instanceof ApiError) return { kind: 'undecided', error };
      const { chargeId, requestId } = order;
      this.options.log.warn({ err: error, chargeId, requestId }, 'no answer to a hold');
      const message = 'The billing service did not answer in time. Nothing was charged.';
      return { kind: 'undecided', error: serviceUnavailable(message, error) };
    }
  }

  private async agreeOnPrice(order: ChargeOrder): Promise<HoldOutcome> {
    let atMs: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const priced = await this.quote(order, atMs);
      const askedMs = this.options.clock.elapsedMs();
      const reply = await this.ask(order, priced);
      if (reply.outcome === 'held') return { kind: 'held', hold: holdFrom(order, priced) };
      const error = refusalFor(order, reply);
      // The database's clock was set, or this machine slept: its time is read anew with the catalog.
      if (reply.refusal?.code === 'expired') this.catalog.dropReadBefore(askedMs);
      if (reply.refusal?.code !== 'stale_quote') return { kind: 'refused', error };
      if (attempt === MAX_QUOTES) return { kind: 'undecided', error };
      this.catalog.drop();
      // Near a change of the price, the clocks may disagree about the version. Billing of the previous version does not say.
      atMs = reply.pricedAt ? Date.parse(reply.pricedAt) : undefined;
    }
  }

  /** The amount that would be held at a time, by default now. @throws ApiError model_not_found */
  async quote(order: PricedOrder, atMs?: number): Promise<Quote> {
    const { priceBook } = await this.catalog.get();
    const { caller, model, units, tokens, dimensions } = order;
    const priced = quote(priceBook, {
      model: model.id,
      group: caller.group,
      units,
      tokens,
      dimensions,
      atMs: atMs ?? this.catalog.nowMs(),
    });
    if (priced === 'model_not_found') throw noSuchModel(model.id, caller.group);
    return priced;
  }

  /** A timeout decides nothing, so the request is repeated while billing can still accept it. */
  private async ask(order: ChargeOrder, priced: Quote): Promise<ChargeReply> {
    const { clock, holdExpiresMs } = this.options;
    const endsMs = clock.elapsedMs() + holdExpiresMs;
    const question = this.questionOf(order, priced);
    for (;;) {
      try {
        return await this.bus.request(topics.chargeRequested, question);
      } catch (error) {
        if (!(error instanceof BusTimeout) || clock.elapsedMs() >= endsMs) throw error;
      }
    }
  }

  /** The ledger compares its times with the database's clock. */
  private questionOf(order: ChargeOrder, priced: Quote): ChargeRequested {
    const { catalog, options } = this;
    const timeOf = (databaseMs: number) => new Date(databaseMs).toISOString();
    return {
      chargeId: order.chargeId,
      accountId: order.caller.accountId,
      keyId: order.caller.keyId,
      model: order.model.id,
      requestedModel: order.model.id,
      group: order.caller.group,
      units: String(order.units),
      dimensions: saidOf(order.dimensions),
      quotedAmount: formatAmount(priced.amount),
      quotedVersion: priced.priceVersionId === null ? null : String(priced.priceVersionId),
      expiresAt: timeOf(catalog.nowMs() + options.holdExpiresMs),
      deadline: order.deadlineMs === null ? null : timeOf(catalog.databaseMs(order.deadlineMs)),
      taskId: order.taskId,
      requestId: order.requestId,
      clientIp: order.caller.clientIp ?? null,
      ...(order.tokens && { tokens: tokensText(order.tokens) }),
    };
  }
}

function saidOf(dimensions: Dimensions = {}): Record<string, string> {
  const said = Object.entries(dimensions).filter((each): each is [string, string] => each[1] !== undefined);
  return Object.fromEntries(said);
}

function holdFrom(order: ChargeOrder, priced: Quote): Hold {
  return {
    chargeId: order.chargeId,
    accountId: order.caller.accountId,
    requestId: order.requestId,
    amount: priced.amount,
    ratedBy: priced.ratedBy,
    amountOf: (units) => amountOfUnits(priced, units),
    amountOfTokens: (tokens) => {
      const cost = costOf(priced, tokens);
      return cost > priced.amount ? priced.amount : cost;
    },
    excessOf: (tokens) => {
      const cost = costOf(priced, tokens);
      return cost > priced.amount ? nanos(cost - priced.amount) : ZERO;
    },
  };
}

function costOf({ lines, multiplier, amount }: Quote, tokens: TokenCounts): Nanos {
  return lines ? linesAmount(withTokens(lines, tokens), multiplier) : amount;
}

function refusalFor(order: ChargeOrder, reply: ChargeReply): ApiError {
  const refusal = reply.refusal;
  if (!refusal || refusal.code === 'conflict') {
    return new ApiError('internal_error', 'The charge failed.', { shouldRetry: false });
  }
  if (OURS.includes(refusal.code))
    return serviceUnavailable('The charge could not be made in time. Nothing was charged.');
  if (refusal.code === 'model_not_found') return noSuchModel(order.model.id, order.caller.group);
  return new ApiError(CODE_FOR_CLIENT[refusal.code] ?? (refusal.code as ErrorCode), refusal.message);
}
