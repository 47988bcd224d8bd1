import type { Shape } from '../../api/client.js';
import { When } from '../../ui/time/when.js';

export function Covers({
  covers: { from, to },
}: {
  covers: NonNullable<Shape<'ReconciliationRun'>['covers']>;
}) {
  return (
    <>
      {from === null ? '…' : <When at={from} />} – <When at={to} />
    </>
  );
}
