import type pg from 'pg';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { findCharge } from '#usage/charge.reader.js';
import type { ImageFiles } from './image.files.js';

interface KeptImage {
  /** Among the images of the call. */
  index: number;
  /** Signed; below the address of the gateway. */
  path: string;
  type: string;
  untilMs: number;
}

const ID = /^[0-9a-z]{26}$/;
/** Each is looked for in the store; no call of ours makes more. */
const MOST = 16;

/** Images of calls that ended a while ago, as long as their files are there. */
export class KeptImages {
  constructor(
    private readonly pool: pg.Pool,
    private readonly files: ImageFiles,
    private readonly clock: Clock,
  ) {}

  /** Of a charge: none, where its images were only sent or are gone. @throws ApiError not_found, also for one of another account */
  async of(accountId: string, chargeId: string): Promise<KeptImage[]> {
    const charge = ID.test(chargeId) ? await findCharge(this.pool, chargeId, accountId) : null;
    if (!charge) throw new ApiError('not_found', 'Your account has no such charge.', { param: 'id' });
    const { id, family, state, resolvedAt, units, lines } = charge;
    const untilMs = (resolvedAt?.getTime() ?? 0) + this.files.lifeMs;
    if (family !== 'image' || state !== 'settled' || untilMs <= this.clock.nowMs()) return [];
    // Of what is priced by the token, the charge does not say how many there were.
    const count = lines ? MOST : Math.min(MOST, Number(units ?? 0n));
    const found = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const link = await this.files.linkOf(`${id}-${index}`, untilMs);
        return link && { index, ...link, untilMs };
      }),
    );
    return found.filter((image) => image !== null);
  }
}
