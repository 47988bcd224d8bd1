/** The shapes that xAI-like upstreams take. */
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

/** The nearest of `ratios` to a size such as `1024x1792`; `auto` for whatever is not a size. */
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

/** What a size is called by its short side: 480p, 720p or 1080p, the nearest that is not smaller. */
export function toResolution(size: string): string {
  const short = Math.min(...size.split('x').map(Number));
  if (short <= 480) return '480p';
  return short <= 720 ? '720p' : '1080p';
}

/** The one of `sizes` (`1536x1024`) whose shape is nearest to an aspect ratio; undefined for what is no ratio. */
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
