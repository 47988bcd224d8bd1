import type { VendorComparison } from '#marketplace/vendors/vendor-diff.js';
import type { VendorImport } from '#marketplace/vendors/vendor.import.js';
import type { PriceText } from '#pricing/price-text.js';
import { tokenAmountsText } from '../amounts.js';
import { tableOf } from '../output.js';
import { differenceTable, nextStep } from './prices.output.js';

const STATES: Record<VendorComparison['state'], string> = {
  missing: 'not here',
  alias: 'alias',
  unlike: 'other unit',
  unpriced: 'no price',
  own: 'own price',
  current: 'current',
  moved: 'moved',
};

export function diffTable(rows: readonly VendorComparison[]): string {
  return tableOf(rows, {
    Vendor: ({ model }) => model.vendor,
    Model: ({ model }) => model.id,
    'List price': ({ model }) => model.listPrice && priceCell(model.listPrice),
    Asked: ({ asked }) => asked && priceCell(asked),
    Margin: ({ base }) => base && `${base.marginPercent} %`,
    State: stateCell,
  });
}

function stateCell({ state, isBelowList, openProposal }: VendorComparison): string {
  const cells = [STATES[state]];
  if (isBelowList) cells.push('below list');
  if (openProposal) cells.push('proposed');
  return cells.join(', ');
}

/** One cell. If there are rates, the price of all other requests. */
function priceCell(price: PriceText): string {
  if ('input' in price) return tokenAmountsText(price);
  return price.rates ? `${price.unitPrice}, rates` : price.unitPrice;
}

export function importText(result: VendorImport): string {
  const { added, changed, same, refused, addedModels, missing, proposal, dryRun } = result;
  const rows = [...changed, ...added];
  const lines = rows.length > 0 ? [differenceTable('No.', rows), ''] : [];
  for (const { reason } of refused) lines.push(`Refused: ${reason}`);
  if (addedModels.length > 0)
    lines.push(`Models ${dryRun ? 'to add' : 'added'}, switched off: ${addedModels.join(', ')}.`);
  if (missing.length > 0)
    lines.push(`Not in this installation, and left out: ${missing.join(', ')}. --add-missing adds them.`);
  lines.push(
    `${added.length} added, ${changed.length} changed, ${same} the same, ${refused.length} refused.`,
    proposal ? nextStep(proposal) : 'Nothing was proposed.',
  );
  return lines.join('\n');
}
