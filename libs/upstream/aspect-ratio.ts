/** The shapes that xAI and similar upstreams accept. */
const RATIOS = [
  '1:1',
  '3:4',
  '4:3',
  '9:16',
  '16:9',
  '2:3',
  '3:2',
  '9:19.5',
  '19.5:9',
  '9:20',
  '20:9',
  '1:2',
  '2:1',
];

/** The nearest of `ratios` to a size such as `1024x1792`; `auto` if it is not a size. */
export function toAspectRatio(size: string, ratios: readonly string[] = RATIOS): string {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size);
  if (!match) return 'auto';
  const wanted = Math.log(Number(match[1]) / Number(match[2]));
  const distance = (ratio: string) => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height) - wanted);
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

/**
 * The name of a size by its short side, or by the one that its long side would have at 16:9 if that is more: 480p, 720p
 * or 1080p, the nearest that is not smaller. Above these, the number of lines, as in `2160p`.
 */
export function toResolution(size: string): string {
  const [width = 0, height = 0] = size.split('x').map(Number);
  // Rounded down for 854x480.
  const lines = Math.max(Math.min(width, height), Math.floor((Math.max(width, height) * 9) / 16));
  if (lines <= 480) return '480p';
  if (lines <= 720) return '720p';
  // Video encoders round 1080 up to a multiple of 16.
  return lines <= 1088 ? '1080p' : `${lines}p`;
}

/** The one of `sizes` (`1536x1024`) whose shape is nearest to an aspect ratio; undefined if it is no ratio. */
export function toSize(aspectRatio: string, sizes: readonly string[]): string | undefined {
  const match = /^(\d{1,4}(?:\.\d)?):(\d{1,4}(?:\.\d)?)$/.exec(aspectRatio);
  const wanted = match ? Math.log(Number(match[1]) / Number(match[2])) : NaN;
  if (!Number.isFinite(wanted)) return undefined;
  const distance = (size: string) => {
    const [width = 1, height = 1] = size.split('x').map(Number);
    return Math.abs(Math.log(width / height) - wanted);
  };
  return sizes.reduce((best, size) => (distance(size) < distance(best) ? size : best));
}
