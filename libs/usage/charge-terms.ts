import { type Nanos, parseDecimal, plainDecimal } from '#money/amount.js';
import { amountFor, type ChargeLine } from '#pricing/quote.js';

const ROUNDING = 'Unit price x units x multiplier, rounded up once to the next 0.000000001 credits.';
const ROUNDING_OF_LINES =
  'For each line unit price x units x multiplier, rounded up to the next 0.000000001 credits; then added up.';

/** The rounding of a price, in words. `lines` is null for work with a single price. */
export function roundingOf(lines: readonly unknown[] | null): string {
  return lines ? ROUNDING_OF_LINES : ROUNDING;
}

const USUAL: readonly ChargeLine['kind'][] = ['input', 'cached_input', 'output'];

/** A line of metered work, for display. */
export interface ShownLine {
  kind: ChargeLine['kind'];
  units: bigint;
  /** Credits per token. */
  unitPrice: string;
  amount: Nanos;
}

/** Lines that are empty for most calls are shown only if they have something. */
export function shownLines(lines: readonly ChargeLine[], multiplier: string): ShownLine[] {
  const shown = lines.filter(({ kind, units }) => units > 0n || USUAL.includes(kind));
  return shown.map(({ kind, units, unitPrice }) => {
    const amount = amountFor(unitPrice, parseDecimal(multiplier), units);
    return { kind, units, unitPrice: plainDecimal(unitPrice), amount };
  });
}
