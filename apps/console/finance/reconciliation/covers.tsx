import { When } from '../../ui/when.js';
import type { Run } from './reconciliation.js';

/** The time that a report covers. */
export function Covers({ covers: { from, to } }: { covers: NonNullable<Run['covers']> }) {
  return (
    <>
      {from === null ? '…' : <When at={from} />} – <When at={to} />
    </>
  );
}
