import type { ProposedChange } from './based-change.js';

export interface Proposal {
  readonly id: string;
  /** Counts the revisions of an open proposal. A confirmation names the one that was reviewed. */
  readonly revision: number;
  readonly state: 'open' | 'confirmed' | 'cancelled' | 'expired';
  readonly note: string;
  /** null: at its confirmation. */
  readonly effectiveAt: Date | null;
  readonly changes: readonly ProposedChange[];
  readonly proposedBy: string;
  /** The last author of the changes, if it was revised. */
  readonly revisedBy: string | null;
  /** Its author confirmed what needs two people, in an installation that declares to have one. */
  readonly confirmedAlone: boolean;
  readonly proposedAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
}
