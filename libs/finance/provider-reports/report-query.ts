export interface ReportQuery<State> {
  /** Happened at or after, and before: by the provider's time if it has one. ISO 8601. */
  from: string | null;
  to: string | null;
  /** Null means any state. */
  states: readonly State[] | null;
  /** Judged as for a period with this end, and only items dated before it. Default: as of now. ISO 8601. */
  before?: string | null;
}
