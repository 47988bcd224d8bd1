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

const shapes = RATIOS.map((name) => {
  const [width = 1, height = 1] = name.split(':').map(Number);
  return { name, logQuotient: Math.log(width / height) };
});

/** The nearest aspect ratio of a size such as `1024x1792`; `auto` for whatever is not a size. */
export function toAspectRatio(size: string): string {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size);
  if (!match) return 'auto';
  const logQuotient = Math.log(Number(match[1]) / Number(match[2]));
  const distance = (shape: { logQuotient: number }) => Math.abs(shape.logQuotient - logQuotient);
  return shapes.reduce((best, shape) => (distance(shape) < distance(best) ? shape : best)).name;
}
