import { formatAmount } from '#money/amount.js';
import type { ChargeLine } from '#pricing/quote.js';
import type { ChargeAttempt, FoundCharge } from '#usage/charge.reader.js';
import { roundingOf, shownLines } from '#usage/charge-terms.js';
import { unixSeconds } from './account.view.js';

/** A charge as explained to the customer: its price, hold and outcome. Amounts are credits as decimal strings. */
export function chargeView(charge: FoundCharge, attempts: readonly ChargeAttempt[]) {
  const { id, state, refunds, createdAt, resolvedAt, task } = charge;
  return {
    object: 'charge',
    id,
    request_id: charge.requestId,
    key_id: charge.keyId,
    model: charge.model,
    group: charge.group,
    state,
    created_at: unixSeconds(createdAt),
    ended_at: resolvedAt && unixSeconds(resolvedAt),
    price: priceOf(charge),
    ...amountsOf(charge),
    delivered: deliveredOf(charge),
    reason: charge.reason,
    refusal:
      charge.refusalCode === null ? null : { code: charge.refusalCode, message: charge.refusalMessage },
    refunds: refunds.map(({ id, amount, at, reason }) => {
      return { id, amount: formatAmount(amount), at: unixSeconds(at), reason };
    }),
    task: task && { id: task.id, state: task.state },
    attempts: attempts.map(({ id, model, state, code }) => ({ id, model, state, code })),
  };
}

function amountsOf({ amount, settled, released, refunds }: FoundCharge) {
  const refunded = refunds.reduce((sum, each) => sum + each.amount, 0n);
  return {
    held: formatAmount(amount),
    settled: settled === null ? null : formatAmount(settled),
    released: released === null ? null : formatAmount(released),
    refunded: formatAmount(refunded),
    charged: formatAmount((settled ?? 0n) - refunded),
  };
}

/** Null if the request was refused before pricing. */
function priceOf({ rule, units, unitPrice, multiplier, lines, dimensions }: FoundCharge) {
  if (rule === null || units === null || multiplier === null) return null;
  return {
    rule,
    units: String(units),
    dimensions: dimensions ?? {},
    unit_price: lines ? null : unitPrice,
    multiplier,
    lines: lines && linesOf(lines, multiplier),
    rounding: roundingOf(lines),
  };
}

function deliveredOf({ state, deliveredUnits, deliveredLines, multiplier }: FoundCharge) {
  if (state !== 'settled') return null;
  return {
    units: String(deliveredUnits ?? 0n),
    lines: deliveredLines && linesOf(deliveredLines, multiplier ?? '1'),
  };
}

function linesOf(lines: readonly ChargeLine[], multiplier: string) {
  return shownLines(lines, multiplier).map(({ kind, units, unitPrice, amount }) => {
    return { kind, units: String(units), unit_price: unitPrice, amount: formatAmount(amount) };
  });
}
