import { type Nanos, parseDecimal, plainDecimal } from '#money/amount.js';
import { amountFor, type ChargeLine } from '#pricing/quote.js';

const ROUNDING = 'Unit price x units x multiplier, rounded up once to the next 0.000000001 credits.';
const ROUNDING_OF_LINES =
  'For each line unit price x units x multiplier, rounded up to the next 0.000000001 credits; then added up.';

/** How a price is rounded, in words; `lines` null for work that has one price. */
export function roundingOf(lines: readonly unknown[] | null): string {
  return lines ? ROUNDING_OF_LINES : ROUNDING;
}

const USUAL: readonly ChargeLine['kind'][] = ['input', 'cached_input', 'output'];

/** A line of metered work as it is shown. */
export interface ShownLine {
  kind: ChargeLine['kind'];
  units: bigint;
  /** Credits for one token. */
  unitPrice: string;
  amount: Nanos;
}

/** Lines that most calls have nothing on are shown where there is something. */
export function shownLines(lines: readonly ChargeLine[], multiplier: string): ShownLine[] {
  const shown = lines.filter(({ kind, units }) => units > 0n || USUAL.includes(kind));
  return shown.map(({ kind, units, unitPrice }) => {
    const amount = amountFor(unitPrice, parseDecimal(multiplier), units);
    return { kind, units, unitPrice: plainDecimal(unitPrice), amount };
  });
}
