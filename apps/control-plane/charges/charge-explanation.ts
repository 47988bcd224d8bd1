import type { Version } from '#groups/version.js';
import { formatDecimal, type Nanos, nanos, plainDecimal } from '#money/amount.js';
import type { PriceBook } from '#pricing/price-book.js';
import type { Quote } from '#pricing/quote.js';
import { type Recomputed, recompute } from '#pricing/recompute.js';
import { roundingOf, shownLines } from '#usage/charge-terms.js';
import type { ChargeAttempt, ChargeRecord } from '#usage/charge.reader.js';
import type { AnswerOf } from '../http/route.js';
import type { chargeRoutes } from './charge.routes.js';

type ChargeView = AnswerOf<typeof chargeRoutes.show>;
type VersionsView = NonNullable<ChargeView['pricing']>['versions'];

/**
 * How the price of a charge was calculated. Staff also see which channel did the work. `attempts`: the charges of its
 * request.
 */
export function explainCharge(
  book: PriceBook,
  charge: ChargeRecord & { attempts: ChargeAttempt[] },
  forStaff: boolean,
): ChargeView {
  const again = recomputed(book, charge);
  return {
    ...charge,
    pricing: pricingOf(book, charge),
    ...outcomesOf(charge),
    upstream: {
      status: charge.upstreamStatus,
      latencyMs: charge.latencyMs,
      channel: forStaff ? charge.channel : null,
    },
    recomputed: again && {
      hold: again.amount,
      settlement: again.settled,
      operatorLoss: again.operatorLoss,
    },
    agrees: charge.state === 'refused' ? null : (again?.agrees ?? false),
    timeline: timelineOf(charge),
  };
}

function recomputed(book: PriceBook, charge: ChargeRecord): Recomputed | null {
  const { state, model, group, units, multiplierVersionId } = charge;
  if (state === 'refused' || !model || !group || units === null || multiplierVersionId === null) return null;
  return recompute(book, {
    ...charge,
    state,
    model,
    group,
    units,
    multiplierVersionId,
    heldAtMs: charge.createdAtMs,
    deliveredUnits: charge.deliveredUnits ?? 0n,
    settled: charge.settled ?? nanos(0n),
  });
}

function pricingOf(book: PriceBook, charge: ChargeRecord): ChargeView['pricing'] {
  const { rule, units, multiplier, lines, unitPrice, dimensions } = charge;
  if (rule === null || units === null || multiplier === null) return null;
  return {
    rule,
    units,
    dimensions: dimensions ?? {},
    unitPrice: lines ? null : unitPrice,
    multiplier,
    lines: lines && shownLines(lines, multiplier),
    versions: versionsView(book, charge),
    rounding: roundingOf(lines),
  };
}

function versionsView(
  book: PriceBook,
  named: Pick<
    ChargeRecord,
    'model' | 'group' | 'priceVersionId' | 'multiplierVersionId' | 'groupRuleVersionId'
  >,
): VersionsView {
  const model = book.models.get(named.model ?? '');
  const group = named.group ?? '';
  return {
    price: versionView(book.prices.get(model?.pricedAs ?? ''), named.priceVersionId),
    multiplier: versionView(book.multipliers.get(group), named.multiplierVersionId),
    groupRule: versionView(book.groupRules.get(group), named.groupRuleVersionId),
  };
}

function versionView(
  versions: readonly Version<unknown>[] | undefined,
  id: bigint | null,
): VersionsView['price'] {
  if (id === null) return null;
  const fromMs = versions?.find((version) => version.id === id)?.effectiveFromMs ?? -Infinity;
  return {
    id,
    effectiveFrom: Number.isFinite(fromMs) ? new Date(fromMs) : null,
  };
}

function outcomesOf(charge: ChargeRecord): Pick<ChargeView, 'refusal' | 'hold' | 'settlement' | 'release'> {
  const { state, settled, released, resolvedAt, multiplier, deliveredLines } = charge;
  return {
    refusal: charge.refusalCode ? { code: charge.refusalCode, message: charge.refusalMessage ?? '' } : null,
    hold: state === 'refused' ? null : { amount: charge.amount, at: charge.createdAt },
    settlement:
      state === 'settled' && resolvedAt && settled !== null
        ? {
            amount: settled,
            at: resolvedAt,
            deliveredUnits: charge.deliveredUnits ?? 0n,
            lines: deliveredLines && shownLines(deliveredLines, multiplier ?? '1'),
          }
        : null,
    release:
      resolvedAt && released !== null && (released > 0n || state === 'released')
        ? { amount: released, at: resolvedAt, reason: charge.reason }
        : null,
  };
}

function timelineOf(charge: ChargeRecord): ChargeView['timeline'] {
  const { createdAt, resolvedAt, task, state } = charge;
  const events: { at: Date; what: string; amount: Nanos | null }[] = [];
  if (task) events.push({ at: task.createdAt, what: 'task created', amount: null });
  if (state === 'refused')
    events.push({ at: createdAt, what: `refused: ${charge.refusalCode}`, amount: null });
  else events.push({ at: createdAt, what: 'held', amount: charge.amount });
  if (task?.endedAt) events.push({ at: task.endedAt, what: `task ${task.state}`, amount: null });
  if (resolvedAt && state === 'settled')
    events.push({ at: resolvedAt, what: 'settled', amount: charge.settled });
  if (resolvedAt && charge.released)
    events.push({ at: resolvedAt, what: 'released', amount: charge.released });
  events.push(...charge.refunds.map(({ at, amount }) => ({ at, what: 'refunded', amount })));
  return events.sort((a, b) => a.at.getTime() - b.at.getTime());
}

export function explainQuote(book: PriceBook, quoted: Quote, group: string) {
  const multiplier = formatDecimal(quoted.multiplier);
  const { priceVersionId, multiplierVersionId, groupRuleVersionId, lines } = quoted;
  const named = { model: quoted.model.id, group, priceVersionId, multiplierVersionId, groupRuleVersionId };
  return {
    model: quoted.model.id,
    group,
    rule: quoted.rule,
    units: quoted.units,
    unitPrice: quoted.unitPrice && plainDecimal(quoted.unitPrice),
    multiplier: plainDecimal(quoted.multiplier),
    lines: lines && shownLines(lines, multiplier),
    versions: versionsView(book, named),
    rounding: roundingOf(lines),
    amount: quoted.amount,
  };
}
