import { hash } from 'node:crypto';
import type { RefusalCode } from '#bus/payloads.js';
import type { Nanos } from '#money/amount.js';
import type { Family } from '#pricing/price-book.js';
import type { ChargeLine } from '#pricing/quote.js';
import { type Dimensions, whenText } from '#pricing/rates.js';
import { mediaNames, type TokenCounts } from '#pricing/token-kinds.js';
import { NamedError } from '#platform/errors.js';

/**
 * The life of a charge: refused, or held -> settled | released. Each is a final state stored under the charge id, which the caller creates and saves first.
 */
type ChargeState = 'held' | 'refused' | 'settled' | 'released';

export interface HoldCommand {
  chargeId: string;
  accountId: string;
  keyId: string;
  /** The model as catalogued. An alias keeps its own id and is priced as its model. */
  model: string;
  requestedModel: string;
  group: string;
  units: bigint;
  /** The maximum usage of metered work. Null for work priced by units. */
  tokens?: TokenCounts | null;
  /** The requested values that rates may name. Null: the gateway does not know about rates. */
  dimensions?: Dimensions | null;
  /** The gateway's quote in nanos. Any other price is refused as stale_quote. */
  quotedAmount: Nanos;
  /** The version of the price it is based on. Null: the gateway does not say. */
  quotedVersion?: string | null;
  /** Processed later than this, the request is refused. */
  expiresAtMs: number;
  /** When an unresolved charge may be swept; null where a task ends the charge. */
  deadlineMs: number | null;
  taskId: string | null;
  requestId: string;
  /** The IP address of the request. Null matches no list. Not part of the charge's input, because a repeat may come from elsewhere. */
  clientIp?: string | null;
}

export type HoldResult =
  | { outcome: 'held'; amount: Nanos; balance: Nanos }
  | ({ outcome: 'refused' } & HoldRefusal);

export interface HoldRefusal {
  code: RefusalCode;
  message: string;
  /** Of a stale_quote: the time whose price is required. */
  pricedAtMs?: number;
}

export interface ResolveCommand {
  chargeId: string;
  accountId: string;
  outcome: 'delivered' | 'failed';
  /** Units delivered of those held; null means all. More than held counts as all. */
  deliveredUnits: bigint | null;
  /** Usage of metered work. Null means all that was held. Anything beyond is the operator's loss. */
  deliveredTokens?: TokenCounts | null;
  channel: string | null;
  reason: string | null;
  upstreamStatus: number | null;
  latencyMs: number | null;
  /** The trace in which it is resolved. */
  traceparent?: string | undefined;
}

export interface ResolveResult {
  outcome: 'settled' | 'released' | 'refused';
  settled: Nanos;
  released: Nanos;
  /** What was delivered after its charge had been released, if anything: the customer pays nothing, the operator does. */
  late: Used | null;
}

/** What was delivered of a charge, and what that costs the customer. */
export interface Used {
  units: bigint;
  /** null for work priced by units. */
  lines: readonly ChargeLine[] | null;
  cost: Nanos;
}

/** A message that contradicts the ledger; repeating it changes nothing, so it must not be retried. */
export class BrokenRule extends NamedError {}

/** A charge as stored, as far as its resolution needs it. */
export interface StoredCharge {
  id: string;
  accountId: string;
  state: ChargeState;
  /** null for a tombstone. */
  inputHash: Buffer | null;
  keyId: string;
  family: Family;
  model: string;
  group: string;
  units: bigint;
  /** null for metered work. */
  unitPrice: string | null;
  lines: readonly ChargeLine[] | null;
  multiplier: string;
  amount: Nanos;
  settled: Nanos | null;
  released: Nanos | null;
  refusalCode: RefusalCode | null;
  refusalMessage: string | null;
  taskId: string | null;
  /** First day of the UTC month of the hold, 'YYYY-MM-01'. */
  heldMonth: string;
}

/** Identifies what a charge is for. The quote and the times may differ between repeats of a request. */
export function inputHash(command: HoldCommand): Buffer {
  const { accountId, keyId, model, requestedModel, group, units, taskId, tokens } = command;
  // Without such values, it is the same as before prices had rates.
  const asked = whenText(command.dimensions ?? {});
  const metered = tokens && meteredInput(tokens);
  const input = JSON.stringify([
    accountId,
    keyId,
    model,
    requestedModel,
    group,
    String(units),
    taskId,
    metered,
    ...(asked === '' ? [] : [asked]),
  ]);
  return hash('sha256', input, 'buffer');
}

/** Without cache writes, images and sound, it is the same as before they were counted. */
function meteredInput(tokens: TokenCounts): string[] {
  const { input, cachedInput, output, cacheWrite = 0n, cacheWrite1h = 0n } = tokens;
  const writes = cacheWrite + cacheWrite1h > 0n ? [cacheWrite, cacheWrite1h] : [];
  const media = mediaNames.filter((name) => tokens[name]).map((name) => `${name}=${tokens[name]}`);
  return [...[input, cachedInput, output, ...writes].map(String), ...media];
}

/** The reference of a charge's posting: unique in the ledger, so each happens once. */
export function chargeReference(chargeId: string, step: 'hold' | 'resolve'): string {
  return `charge:${chargeId}:${step}`;
}
