import { previewView, proposalDetail } from '#marketplace/prices/prices.view.js';
import type { Proposal } from '#marketplace/prices/proposal.js';
import { changeText, type PriceChange, changeSubject } from '#marketplace/prices/price-change.js';
import { printFacts, printJson, printText, right, table, tableOf } from '../output.js';

export function changesTable(changes: readonly PriceChange[]): string {
  return tableOf(changes, {
    Kind: 'kind',
    'Model or group': (change) => (change.kind === 'price' ? change.model : change.group),
    'Value (credits)': changeText,
  });
}

interface Difference {
  change: PriceChange;
  before: PriceChange | null;
}

/** @param number of a row, from 1 by default */
export function differenceTable<T extends Difference>(
  title: string,
  rows: readonly T[],
  number: (row: T) => number = (row) => rows.indexOf(row) + 1,
): string {
  return tableOf(rows, {
    [title]: number,
    What: ({ change }) => changeSubject(change),
    Before: ({ before }) => before && changeText(before),
    After: ({ change }) => changeText(change),
  });
}

export function previewTable({ rows, ...all }: ReturnType<typeof previewView>): string {
  if (rows.length === 0) return 'No request of that time is affected.';
  const cells = rows.map((row) => [
    row.model,
    row.group,
    String(row.requests),
    row.current,
    row.wouldBeRefused ? 'refused' : row.proposed,
    row.difference,
  ]);
  const numbers = ['Requests', 'Now', 'Proposed', 'Difference'].map(right);
  const total = ['All', '', String(all.requests), all.current, all.proposed, all.difference];
  return table(['Model', 'Group', ...numbers], [...cells, total]);
}

export function nextStep({ id, effectiveAt, changes }: Proposal): string {
  const when = effectiveAt ? `from ${effectiveAt.toISOString()} on` : 'at once';
  return `Proposal ${id} of ${changes.length} changes holds ${when} after: tollgate prices confirm ${id}`;
}

export function tellDecision(proposal: Proposal, options: { json?: boolean }): void {
  if (options.json) return printJson(proposalDetail(proposal, [], null));
  printFacts([
    ['Proposal', proposal.id],
    ['State', proposal.state],
  ]);
  printText(`\n${differenceTable('No.', proposal.changes)}`);
}
