import { changeSubject, changeText } from '#marketplace/prices/price-change.js';
import type { VendorComparison } from '#marketplace/vendors/vendor-diff.js';
import type { VendorImport } from '#marketplace/vendors/vendor.import.js';
import type { PriceText } from '#pricing/price-text.js';
import { tokenAmountsText } from '../amounts.js';
import { table } from '../output.js';
import { differenceTable, nextStep } from './prices.output.js';

/** What `catalog` prints. */

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
  const cells = rows.map(({ model, state, asked, base, isBelowList, openProposal }) => [
    model.vendor,
    model.id,
    model.listPrice ? priceCell(model.listPrice) : '-',
    asked ? priceCell(asked) : '-',
    base ? `${base.marginPercent} %` : '-',
    [STATES[state], ...(isBelowList ? ['below list'] : []), ...(openProposal ? ['proposed'] : [])].join(', '),
  ]);
  return table(['Vendor', 'Model', 'List price', 'Asked', 'Margin', 'State'], cells);
}

/** One cell. If there are rates, the price of all other requests. */
function priceCell(price: PriceText): string {
  if ('input' in price) return tokenAmountsText(price);
  return price.rates ? `${price.unitPrice}, rates` : price.unitPrice;
}

export function importText(result: VendorImport): string {
  const { added, changed, same, refused, addedModels, missing, proposal, dryRun } = result;
  const rows = [...changed, ...added].map(({ change, before }) => [
    changeSubject(change),
    before ? changeText(before) : '-',
    changeText(change),
  ]);
  const lines = [
    ...(rows.length > 0
      ? [
          differenceTable(
            'No.',
            rows.map((row, at) => [`${at + 1}`, ...row]),
          ),
          '',
        ]
      : []),
    ...refused.map(({ reason }) => `Refused: ${reason}`),
    ...(addedModels.length > 0
      ? [`Models ${dryRun ? 'to add' : 'added'}, switched off: ${addedModels.join(', ')}.`]
      : []),
    ...(missing.length > 0
      ? [`Not in this installation, and left out: ${missing.join(', ')}. --add-missing adds them.`]
      : []),
    `${added.length} added, ${changed.length} changed, ${same} the same, ${refused.length} refused.`,
    proposal ? nextStep(proposal) : 'Nothing was proposed.',
  ];
  return lines.join('\n');
}
