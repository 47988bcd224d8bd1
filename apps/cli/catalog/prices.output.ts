import { previewView, proposalDetail } from '#marketplace/prices/prices.view.js';
import type { Proposal } from '#marketplace/prices/proposal.js';
import { changeText, type PriceChange, changeSubject } from '#marketplace/prices/price-change.js';
import { facts, printJson, printText, table, right } from '../output.js';

/** What `prices` prints. */

export function changesTable(changes: readonly PriceChange[]): string {
  const rows = changes.map((change) => [
    change.kind,
    change.kind === 'price' ? change.model : change.group,
    changeText(change),
  ]);
  return table(['Kind', 'Model or group', 'Value (credits)'], rows);
}

export function differenceTable(first: string, rows: string[][]): string {
  return table([first, 'What', 'Before', 'After'], rows);
}

export function previewTable({ rows, ...all }: ReturnType<typeof previewView>): string {
  if (rows.length === 0) return 'No request of that time is concerned.';
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
  const rows = proposal.changes.map(({ change: wanted, before }, at) => [
    String(at + 1),
    changeSubject(wanted),
    before ? changeText(before) : '-',
    changeText(wanted),
  ]);
  printText(
    facts([
      ['Proposal', proposal.id],
      ['State', proposal.state],
    ]),
  );
  printText(`\n${differenceTable('No.', rows)}`);
}
