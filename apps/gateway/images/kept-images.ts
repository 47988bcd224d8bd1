import type pg from 'pg';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { findCharge } from '#usage/charge.reader.js';
import type { ImageFiles, LinkedImage } from './image.files.js';

const ID = /^[0-9a-z]{26}$/;
/** Looked for at once. If none of as many is there, a charge by the token has no further ones. */
const AT_ONCE = 16;
/** The most images of a call that a model may allow. */
const MOST = 1_000;

/** Images of past calls, as long as their files exist. */
export class KeptImages {
  constructor(
    private readonly pool: pg.Pool,
    private readonly files: ImageFiles,
    private readonly clock: Clock,
  ) {}

  /**
   * The images of a charge: none if they were not stored or have been removed. @throws ApiError not_found, also for a charge of
   * another account
   */
  async of(accountId: string, chargeId: string): Promise<LinkedImage[]> {
    const charge = ID.test(chargeId) ? await findCharge(this.pool, chargeId, accountId) : null;
    if (!charge) throw new ApiError('not_found', 'Your account has no such charge.', { param: 'id' });
    const { id, family, state, resolvedAt, units, lines } = charge;
    const untilMs = (resolvedAt?.getTime() ?? 0) + this.files.lifeMs;
    if (family !== 'image' || state !== 'settled' || untilMs <= this.clock.nowMs()) return [];
    // A charge priced by the token does not say how many there were.
    const count = lines ? MOST : Math.min(MOST, Number(units ?? 0n));
    const linked: LinkedImage[] = [];
    for (let from = 0; from < count; from += AT_ONCE) {
      const range = { from, to: Math.min(from + AT_ONCE, count) };
      const some = await this.files.linksOf(id, range, untilMs);
      if (lines && some.length === 0) break;
      linked.push(...some);
    }
    return linked;
  }
}
