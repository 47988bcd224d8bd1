import { invalidField } from '#platform/errors.js';
import { viewAmount } from '#platform/http/fields.js';
import type { Preview } from './preview.js';
import type { LargeMove } from './price-move.js';
import type { PriceImport } from './price.import.js';
import type { Proposal } from './proposal.js';

const DAY_MS = 24 * 3_600_000;
const LONGEST_PREVIEW_MS = 31 * DAY_MS;

/** The time range of a preview's requests. The default is the last day. @throws ApiError */
export function previewWindow(asked: { from?: Date; to?: Date }, nowMs: number): { from: Date; to: Date } {
  const to = asked.to ?? new Date(nowMs);
  const from = asked.from ?? new Date(to.getTime() - DAY_MS);
  const lengthMs = to.getTime() - from.getTime();
  if (lengthMs > 0 && lengthMs <= LONGEST_PREVIEW_MS) return { from, to };
  throw invalidField('from', 'must be before to, by at most 31 days.');
}

/** A proposal in a list. */
export function proposalSummary({ changes, ...proposal }: Proposal) {
  return { ...proposal, changes: changes.length };
}

/** A preview with its totals. */
export function previewView({ from, to, accounts, rows }: Preview) {
  const sum = (of: 'requests' | 'charged' | 'current' | 'proposed') =>
    rows.reduce((total, row) => total + row[of], 0n);
  const all = {
    requests: sum('requests'),
    accounts,
    charged: sum('charged'),
    current: sum('current'),
    proposed: sum('proposed'),
  };
  return {
    from,
    to,
    ...totals(all),
    rows: rows.map(({ model, group, wouldBeRefused, ...row }) => ({
      model,
      group,
      ...totals(row),
      wouldBeRefused,
    })),
  };
}

function totals(row: Record<'requests' | 'accounts' | 'charged' | 'current' | 'proposed', bigint>) {
  return {
    requests: Number(row.requests),
    accounts: Number(row.accounts),
    charged: viewAmount(row.charged),
    current: viewAmount(row.current),
    proposed: viewAmount(row.proposed),
    difference: viewAmount(row.proposed - row.current),
  };
}

/** The effect of an import. */
export function importView({ proposal, ...result }: PriceImport) {
  return { ...result, proposal: proposal && proposalSummary(proposal) };
}

/** A proposal with its changes, and what others have changed about the same subjects since. */
export function proposalDetail(proposal: Proposal, outdated: string[], needsSecondPerson: LargeMove | null) {
  const changes = proposal.changes.map(({ change, before }) => ({ change, before }));
  return { ...proposal, changes, outdated, needsSecondPerson };
}
