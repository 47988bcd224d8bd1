import { chainFaults } from '#ledger/chain/chain-difference.js';
import { ruleStates } from '#ledger/checks/rule-state.js';
import { FAULTY_WORK } from './reports/charges-tasks.js';

/** What can be wrong with upstream costs besides amounts that differ. */
export const costFaults = [
  'unknown_cost',
  'behind',
  'cost_without_charge',
  'cost_missing',
  'posting_missing',
  'row_missing',
] as const;

/** Every state of a finding. The console has words for each of them. */
export const foundStates = [
  // Money in.
  'missing_here',
  'missing_there',
  'differs',
  'twice',
  'not_covered',
  'report_overdue',
  'lines_missing',
  'refused',
  'open',
  // Work.
  ...FAULTY_WORK,
  'overdue',
  'not_refunded',
  // Revenue and its costs.
  'summary_differs',
  ...costFaults,
  // Balances.
  'approval_missing',
  'not_frozen',
  'frozen_without_debt',
  'inside',
  'hash_differs',
  // The hash chain.
  'unsealed',
  ...chainFaults,
  // The ledger.
  ...ruleStates,
  /** A violated rule, as stored before each rule had a state of its own. */
  'violated',
] as const;

export type FoundState = (typeof foundStates)[number];
