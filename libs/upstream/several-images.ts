import type { ImageOutcome, UpstreamImage } from './outcomes.js';

/**
 * Several images of a vendor that makes one at a time: as many calls at once. What was made is delivered, however the
 * others ended; where nothing was made, one call that may have been taken keeps other channels from being asked.
 */
export async function severalImages(n: number, ask: () => Promise<ImageOutcome>): Promise<ImageOutcome> {
  const outcomes = await Promise.all(Array.from({ length: n }, ask));
  const images = outcomes.flatMap((outcome): UpstreamImage[] =>
    outcome.kind === 'delivered' ? outcome.images : [],
  );
  const kinds = ['delivered', 'unknown', 'refused', 'not_accepted'] as const;
  const [first] = kinds.flatMap((kind) => outcomes.filter((outcome) => outcome.kind === kind));
  if (!first) return { kind: 'not_accepted', reason: 'no image was asked for', upstreamStatus: null };
  return first.kind === 'delivered' ? { ...first, images: images.slice(0, n) } : first;
}
