import { type Nanos, nanos } from '#money/amount.js';
import type { PriceBook } from './price-book.js';
import { amountOfUnits, type ChargeLine, linesAmount, quoteOf, withTokens } from './quote.js';
import type { Dimensions } from './rates.js';
import { countsOfLines, type TokenCounts } from './token-kinds.js';
import { type NamedVersions, termsOfVersions, wereVersionsInForce } from './terms.js';

/** The stored facts that a charge's amounts follow from, and its amounts. */
export interface RecordedCharge extends NamedVersions {
  readonly units: bigint;
  /** The requested properties; null for none, and for charges from before prices had rates. */
  readonly dimensions: Dimensions | null;
  readonly lines: readonly Pick<ChargeLine, 'kind' | 'units'>[] | null;
  readonly state: 'held' | 'settled' | 'released';
  /** When it was held, milliseconds. The versions must have been in force then. */
  readonly heldAtMs: number;
  readonly deliveredUnits: bigint;
  readonly deliveredLines: readonly Pick<ChargeLine, 'kind' | 'units'>[] | null;
  readonly amount: Nanos;
  readonly settled: Nanos;
  readonly operatorLoss: Nanos;
}

export interface Recomputed {
  readonly amount: Nanos;
  readonly settled: Nanos;
  readonly operatorLoss: Nanos;
  /** The versions were the ones in force when the charge was held. */
  readonly inForce: boolean;
  /** Every amount is as stored. */
  readonly agrees: boolean;
}

/** Recomputes a charge from the versions that it names; null if they are not in the book. */
export function recompute(book: PriceBook, charge: RecordedCharge): Recomputed | null {
  const terms = termsOfVersions(book, charge);
  if (typeof terms === 'string') return null;
  const { units, dimensions } = charge;
  const quoted = quoteOf(terms, { units, dimensions, tokens: countsOf(charge.lines) });
  if (typeof quoted === 'string') return null;
  const used = countsOf(charge.deliveredLines);
  const cost =
    charge.state !== 'settled'
      ? 0n
      : quoted.lines && used
        ? linesAmount(withTokens(quoted.lines, used), quoted.multiplier)
        : amountOfUnits(quoted, charge.deliveredUnits);
  const settled = nanos(cost < quoted.amount ? cost : quoted.amount);
  const operatorLoss = nanos(cost - settled);
  const inForce = wereVersionsInForce(book, charge, charge.heldAtMs);
  const isSame =
    quoted.amount === charge.amount && settled === charge.settled && operatorLoss === charge.operatorLoss;
  return { amount: quoted.amount, settled, operatorLoss, inForce, agrees: inForce && isSame };
}

function countsOf(lines: RecordedCharge['lines']): TokenCounts | null {
  return lines && countsOfLines(lines);
}
