import type { components } from '../../api/schema.js';
import { addDecimals, compareDecimals, multiplyDecimals, roundUp } from '../../ui/decimal.js';

/** Specs outside the console recompute, too, so this file needs nothing of a browser. */
type Charge = components['schemas']['Charge'];

type Line = Pick<NonNullable<NonNullable<Charge['pricing']>['lines']>[number], 'units' | 'unitPrice'>;

/** Credits have nine decimals; every amount is rounded up once. */
const DECIMALS = 9;

export interface RecomputedCharge {
  hold: string;
  /** Null if nothing was charged. */
  settlement: string | null;
  /** Both match the relay's amounts. */
  agrees: boolean;
}

/** Unit price × units × multiplier, rounded up to the next 0.000000001 credits. */
export function amountOf({ unitPrice, units }: Line, multiplier: string): string {
  return roundUp(multiplyDecimals(unitPrice, units, multiplier), DECIMALS);
}

/** Null if the charge was never priced. */
export function recomputed(charge: Pick<Charge, 'pricing' | 'hold' | 'settlement'>): RecomputedCharge | null {
  const { pricing, hold, settlement } = charge;
  if (!pricing || !hold) return null;
  const { unitPrice, units, multiplier } = pricing;
  const costOf = (delivered: string, lines: readonly Line[] | null) =>
    lines
      ? addDecimals(...lines.map((line) => amountOf(line, multiplier)))
      : amountOf({ unitPrice: unitPrice ?? '0', units: delivered }, multiplier);
  const held = costOf(units, pricing.lines);
  const settled = settlement && least(costOf(settlement.deliveredUnits, settlement.lines), held);
  const agrees =
    compareDecimals(held, hold.amount) === 0 &&
    (settlement === null || (settled !== null && compareDecimals(settled, settlement.amount) === 0));
  return { hold: held, settlement: settled, agrees };
}

/** Nobody is charged more than was held. */
function least(a: string, b: string): string {
  return compareDecimals(a, b) < 0 ? a : b;
}
