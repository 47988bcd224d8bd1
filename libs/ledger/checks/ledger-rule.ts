import type { RuleState } from './rule-state.js';

/** An invariant as a query that selects violations. An empty result means a clean ledger. */
export interface LedgerRule {
  readonly invariant: number;
  readonly state: RuleState;
  readonly message: string;
  /** Selects the offending rows as text columns. Work from before $1 must have ended. */
  readonly sql: string;
}
