/**
 * Every kind of token that a charge may have a line for, in the order of its lines, with its name in counts and prices.
 * Everything but images and sound is text. The database function token_price() has the same kinds.
 */
const NAMES = {
  input: 'input',
  cached_input: 'cachedInput',
  output: 'output',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
  image_input: 'imageInput',
  cached_image_input: 'cachedImageInput',
  image_output: 'imageOutput',
  audio_input: 'audioInput',
  cached_audio_input: 'cachedAudioInput',
  audio_output: 'audioOutput',
} as const;

export type LineKind = keyof typeof NAMES;
export const lineKinds = Object.keys(NAMES) as [LineKind, ...LineKind[]];

/** Kinds that a price may omit. */
export const mediaNames = [
  'imageInput',
  'cachedImageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
] as const satisfies readonly TokenName[];
export type MediaName = (typeof mediaNames)[number];

type TokenName = (typeof NAMES)[LineKind];
type Always = 'input' | 'cachedInput' | 'output';

/**
 * The tokens of a call. Each is counted once: input that was read from a cache, or written into one for five minutes or
 * an hour, and images and sound, are not part of the others.
 */
export type TokenCounts = { readonly [Name in Always]: bigint } & {
  readonly [Name in Exclude<TokenName, Always>]?: bigint;
};

export function nameOfLine(kind: LineKind): TokenName {
  return NAMES[kind];
}

/** The kind that counts tokens of a kind without a price: the first one with a price. */
const COUNTED_AS: readonly (readonly [LineKind, readonly LineKind[]])[] = [
  ['cached_image_input', ['image_input', 'cached_input']],
  ['image_input', ['input']],
  ['image_output', ['output']],
  ['cached_audio_input', ['audio_input', 'cached_input']],
  ['audio_input', ['input']],
  ['audio_output', ['output']],
  ['cache_write', ['input']],
  ['cache_write_1h', ['input']],
];

/** Tokens by the kinds that have lines. Those of other kinds count as text, or as not cached. */
export function byLine(tokens: TokenCounts, priced: ReadonlySet<LineKind>): Record<LineKind, bigint> {
  const counts = Object.fromEntries(lineKinds.map((kind) => [kind, tokens[NAMES[kind]] ?? 0n])) as Record<
    LineKind,
    bigint
  >;
  for (const [kind, others] of COUNTED_AS) {
    const other = priced.has(kind) ? undefined : others.find((each) => priced.has(each));
    if (other === undefined) continue;
    counts[other] += counts[kind];
    counts[kind] = 0n;
  }
  return counts;
}

/** Counts from the units of lines. */
export function countsOfLines(lines: readonly { kind: LineKind; units: bigint }[]): TokenCounts {
  const counted = lines.map(({ kind, units }) => [NAMES[kind], units] as const);
  return { input: 0n, cachedInput: 0n, output: 0n, ...Object.fromEntries(counted) };
}

/** The images and sound of stored lines, renamed for prices. */
export function namedByLine(
  amounts: Partial<Record<string, string>> | null | undefined,
): Partial<Record<MediaName, string>> {
  const named = mediaNames.map((name) => [name, amounts?.[lineOf(name)]] as const);
  return Object.fromEntries(named.filter(([, amount]) => amount !== undefined));
}

/** The reverse; null if there are none. */
export function keyedByLine(
  amounts: Partial<Record<MediaName, string | undefined>>,
): Partial<Record<LineKind, string>> | null {
  const keyed = mediaNames.map((name) => [lineOf(name), amounts[name]] as const);
  const found = keyed.filter(([, amount]) => amount !== undefined);
  return found.length > 0 ? Object.fromEntries(found) : null;
}

function lineOf(name: MediaName): LineKind {
  return lineKinds.find((kind) => NAMES[kind] === name)!;
}

/** The non-zero counts, and the three that every call has. */
export function mapCounts<T>(tokens: TokenCounts, to: (count: bigint) => T): CountsAs<T> {
  const { input, cachedInput, output, ...others } = tokens;
  const found = Object.entries(others).filter(([, count]) => count > 0n);
  return {
    input: to(input),
    cachedInput: to(cachedInput),
    output: to(output),
    ...Object.fromEntries(found.map(([name, count]) => [name, to(count)])),
  };
}

type CountsAs<T> = { [Name in Always]: T } & { [Name in Exclude<TokenName, Always>]?: T };
