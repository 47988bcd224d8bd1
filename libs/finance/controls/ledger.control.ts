import { checkLedgerOn, ROWS_SHOWN, type Violation } from '#ledger/checks/ledger-check.js';
import { ruleStates } from '#ledger/checks/rule-state.js';
import type { Control, ControlItem } from '../control.js';

/** Finds each row that violates an invariant of the ledger. Always reads everything, regardless of the requested time. */
export const ledgerControl: Control = {
  id: 'ledger',
  title: 'Ledger invariants',
  explanation:
    'Rules that must always hold for transactions, entries, balances, charges and tasks. A finding here is a fault in the ledger itself.',
  states: ruleStates,
  every: 'day',
  check: async (client, { graceMs, limit }) => {
    const { violations } = await checkLedgerOn(client, { graceMs });
    const items = violations.flatMap((violation) => violation.rows.map((row) => itemOf(violation, row)));
    // One more, for those that were not counted.
    const isCut = violations.some(({ rows }) => rows.length >= ROWS_SHOWN);
    return { count: items.length + (isCut ? 1 : 0), items: items.slice(0, limit) };
  },
};

/** Columns that identify the row, and do not say what is wrong with it. */
const NAMING = /^(id|.*_id|code|commodity|ordinal|purpose|provider|reference|currency)$/;

function itemOf({ invariant, state, message }: Violation, row: Violation['rows'][number]): ControlItem {
  const named = Object.entries(row).filter(([column, value]) => NAMING.test(column) && value !== null);
  const name = named.map(([column, value]) => `${column}=${value}`).join(',');
  const ids = [row['transaction_id'], 'reference' in row ? row['id'] : null];
  return {
    subject: `invariant-${invariant}:${name || message.replaceAll(' ', '-')}`,
    state,
    message: `Invariant ${invariant}: ${message}.`,
    details: row,
    transactionIds: ids.flatMap((id) => (id && /^\d+$/.test(id) ? [BigInt(id)] : [])),
  };
}
