import { parseDecimal, ZERO } from '#money/amount.js';
import { amountFor, linesAmount, withTokens } from '#pricing/quote.js';
import type { ResolveCommand, StoredCharge, Used } from './charge.js';

const NOTHING: Used = { units: 0n, lines: null, cost: ZERO };

/** What a resolution says was delivered. */
export function usedOf(charge: StoredCharge, command: ResolveCommand): Used {
  return charge.lines ? usedTokens(charge, command) : usedUnits(charge, command);
}

/** Delivered units of those held. Anything beyond the request is ignored and costs nobody anything. */
function usedUnits(charge: StoredCharge, command: ResolveCommand): Used {
  const asked = command.deliveredUnits ?? charge.units;
  if (command.outcome === 'failed' || asked <= 0n) return NOTHING;
  if (asked >= charge.units || charge.unitPrice === null) {
    return { units: charge.units, lines: null, cost: charge.amount };
  }
  const cost = amountFor(parseDecimal(charge.unitPrice), parseDecimal(charge.multiplier), asked);
  return { units: asked, lines: null, cost };
}

/** Metered work costs what was used, even if that is more than was held. */
function usedTokens(charge: StoredCharge, command: ResolveCommand): Used {
  if (command.outcome === 'failed' || !charge.lines) return NOTHING;
  const lines = command.deliveredTokens ? withTokens(charge.lines, command.deliveredTokens) : charge.lines;
  const units = lines.reduce((sum, line) => sum + line.units, 0n);
  return { units, lines, cost: linesAmount(lines, parseDecimal(charge.multiplier)) };
}
