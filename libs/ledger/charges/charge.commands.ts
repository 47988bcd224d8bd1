import type { Tokens } from '#bus/tokens.js';
import type {
  ChargeReply,
  ChargeRequested,
  ChargeResolved,
  ResolvedReply,
  TaskEnded,
} from '#bus/payloads.js';
import {
  BrokenRule,
  type HoldCommand,
  type HoldResult,
  type ResolveCommand,
  type ResolveResult,
} from './charge.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { currentTrace } from '#platform/tracing.js';
import type { TokenCounts } from '#pricing/token-kinds.js';

/** Translates a `charge.requested` into a ledger command. @throws BrokenRule for units that are not whole. */
export function holdCommand(message: ChargeRequested): HoldCommand {
  const { chargeId, accountId, keyId, model, requestedModel, group, requestId } = message;
  return {
    chargeId,
    accountId,
    keyId,
    model,
    requestedModel,
    group,
    units: wholeUnits(message.units),
    tokens: message.tokens ? tokenCounts(message.tokens) : null,
    dimensions: message.dimensions ?? null,
    quotedAmount: parseAmount(message.quotedAmount),
    quotedVersion: message.quotedVersion ?? null,
    expiresAtMs: Date.parse(message.expiresAt),
    deadlineMs: message.deadline ? Date.parse(message.deadline) : null,
    taskId: message.taskId ?? null,
    requestId,
    clientIp: message.clientIp ?? null,
  };
}

export function holdReply(chargeId: string, result: HoldResult): ChargeReply {
  if (result.outcome === 'refused') {
    const { code, message, pricedAtMs } = result;
    const pricedAt = pricedAtMs === undefined ? {} : { pricedAt: new Date(pricedAtMs).toISOString() };
    return { chargeId, outcome: 'refused', refusal: { code, message }, ...pricedAt };
  }
  const { amount, balance } = result;
  return { chargeId, outcome: 'held', amount: formatAmount(amount), balance: formatAmount(balance) };
}

/** Translates a `charge.resolved` into a ledger command. @throws BrokenRule for units that are not whole. */
export function resolveCommand(message: ChargeResolved): ResolveCommand {
  const deliveredTokens = message.deliveredTokens ? tokenCounts(message.deliveredTokens) : null;
  return { ...endOf(message), outcome: message.outcome, deliveredTokens };
}

/** A task that ended resolves its charge: completed is delivered, failed costs nothing. */
export function taskEndedCommand(message: TaskEnded): ResolveCommand {
  return { ...endOf(message), outcome: message.outcome === 'completed' ? 'delivered' : 'failed' };
}

function endOf(message: ChargeResolved | TaskEnded): Omit<ResolveCommand, 'outcome'> {
  return {
    chargeId: message.chargeId,
    accountId: message.accountId,
    deliveredUnits: message.deliveredUnits === undefined ? null : wholeUnits(message.deliveredUnits),
    channel: message.channel ?? null,
    reason: message.reason?.code ?? null,
    upstreamStatus: message.upstreamStatus ?? null,
    latencyMs: message.latencyMs ?? null,
    traceparent: currentTrace(),
  };
}

export function resolveReply(result: ResolveResult): ResolvedReply {
  const { outcome, settled, released } = result;
  return { outcome, settled: formatAmount(settled), released: formatAmount(released) };
}

function tokenCounts(tokens: Tokens): TokenCounts {
  const counted = Object.entries(tokens).map(([name, count]) => [name, BigInt(count)] as const);
  return { input: 0n, cachedInput: 0n, output: 0n, ...Object.fromEntries(counted) };
}

/** Images, seconds and calls are whole; the bus carries them as decimal text. */
function wholeUnits(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new BrokenRule(`units must be whole and not negative: ${text}`);
  return BigInt(text);
}
