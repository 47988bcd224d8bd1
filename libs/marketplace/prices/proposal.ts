import type { ProposedChange } from './based-change.js';

export interface Proposal {
  readonly id: string;
  /** Counts the revisions of an open proposal; a confirmation names the one that was looked at. */
  readonly revision: number;
  readonly state: 'open' | 'confirmed' | 'cancelled' | 'expired';
  readonly note: string;
  /** null: at its confirmation. */
  readonly effectiveAt: Date | null;
  readonly changes: readonly ProposedChange[];
  readonly proposedBy: string;
  /** Who wrote the changes as they are, where it was revised. */
  readonly revisedBy: string | null;
  /** Its author confirmed what needs two people, where the installation declares that it has one. */
  readonly confirmedAlone: boolean;
  readonly proposedAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
}
