/** An invariant as a query: it selects what violates it, so an empty answer is a clean ledger. */
export interface LedgerRule {
  /** Its number. */
  readonly invariant: number;
  readonly message: string;
  /** Selects the offending rows as text columns; $1 is the time before which work must have come to rest. */
  readonly sql: string;
}
