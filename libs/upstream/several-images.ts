import type { Channel } from '#catalog/catalog.js';
import type { ImageOutcome, UpstreamImage } from './outcomes.js';

/** Vendors limit concurrent calls. A channel with a lower limit makes fewer. */
const AT_ONCE = 4;

export interface SeveralCalls {
  n: number;
  signal: AbortSignal;
  ask: () => Promise<ImageOutcome>;
}

/**
 * Several images of a vendor that makes one at a time: some calls concurrently, and no more after one was not accepted.
 * Whatever was made is delivered, however the others ended. If nothing was made, one call that may have been accepted
 * prevents trying other channels.
 */
export async function severalImages(
  { maxConcurrency }: Pick<Channel, 'maxConcurrency'>,
  { n, signal, ask }: SeveralCalls,
): Promise<ImageOutcome> {
  const outcomes: ImageOutcome[] = [];
  let begun = 0;
  const callOnAndOn = async () => {
    while (begun < n && !signal.aborted) {
      begun += 1;
      const outcome = await ask();
      outcomes.push(outcome);
      if (outcome.kind === 'not_accepted') begun = n;
    }
  };
  const lanes = Math.min(n, maxConcurrency ?? AT_ONCE, AT_ONCE);
  await Promise.all(Array.from({ length: lanes }, callOnAndOn));
  const images = outcomes.flatMap((outcome): UpstreamImage[] =>
    outcome.kind === 'delivered' ? outcome.images : [],
  );
  const kinds = ['delivered', 'unknown', 'refused', 'not_accepted'] as const;
  const [first] = kinds.flatMap((kind) => outcomes.filter((outcome) => outcome.kind === kind));
  if (!first) return { kind: 'not_accepted', reason: 'no image was asked for', upstreamStatus: null };
  return first.kind === 'delivered' ? { ...first, images: images.slice(0, n) } : first;
}
