import type { TokenCounts } from '#pricing/token-kinds.js';
import type { ImagesDelivered } from '#upstream/outcomes.js';

/** The result of one call: how many of its images are delivered, and the usage of all of them. */
interface MadeImages extends Pick<ImagesDelivered, 'usage'> {
  readonly usable: number;
}

/**
 * The charged usage of all calls for the images of one charge: `likely` for each image without a report, and for reported
 * output the share of the delivered images, rounded down.
 */
export function tokensOfAll(made: readonly MadeImages[], likely: TokenCounts): TokenCounts {
  const parts = made
    .filter(({ usable }) => usable > 0)
    .map(({ usable, usage }) => (usage ? shareOf(usage, usable) : times(likely, usable)));
  return parts.reduce(added, { input: 0n, cachedInput: 0n, output: 0n });
}

/** The input was read for all images equally. */
function shareOf({ tokens, images }: NonNullable<ImagesDelivered['usage']>, usable: number): TokenCounts {
  const share = (count: bigint) => (count * BigInt(usable)) / BigInt(images);
  const { output, imageOutput, audioOutput } = tokens;
  return {
    ...tokens,
    output: share(output),
    ...(imageOutput !== undefined && { imageOutput: share(imageOutput) }),
    ...(audioOutput !== undefined && { audioOutput: share(audioOutput) }),
  };
}

function times(tokens: TokenCounts, factor: number): TokenCounts {
  const counts = Object.entries(tokens).map(([name, count]) => [name, count * BigInt(factor)] as const);
  return { ...tokens, ...Object.fromEntries(counts) };
}

function added(one: TokenCounts, other: TokenCounts): TokenCounts {
  const counts = Object.entries(other).map(([name, count]) => {
    return [name, count + (one[name as keyof TokenCounts] ?? 0n)] as const;
  });
  return { ...one, ...Object.fromEntries(counts) };
}

/** The usage of an answer, as OpenAI writes it. */
export interface OpenAiUsage {
  input_tokens: number;
  input_tokens_details: { text_tokens: number; image_tokens: number };
  output_tokens: number;
  total_tokens: number;
}

export function openAiUsage(tokens: TokenCounts): OpenAiUsage {
  const count = (...kinds: (bigint | undefined)[]) =>
    Number(kinds.reduce<bigint>((all, each = 0n) => all + each, 0n));
  const text = count(tokens.input, tokens.cachedInput);
  const images = count(tokens.imageInput, tokens.cachedImageInput);
  const output = count(tokens.output, tokens.imageOutput);
  return {
    input_tokens: text + images,
    input_tokens_details: { text_tokens: text, image_tokens: images },
    output_tokens: output,
    total_tokens: text + images + output,
  };
}
