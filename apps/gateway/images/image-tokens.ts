import type { TokenCounts } from '#pricing/token-kinds.js';

/** What all calls for the images of one charge took together; `likely` for each image that came without a report. */
export function tokensOfAll(
  made: readonly { readonly images: readonly unknown[]; readonly tokens?: TokenCounts | undefined }[],
  likely: TokenCounts,
): TokenCounts {
  const parts = made.map(({ images, tokens }) => tokens ?? times(likely, images.length));
  return parts.reduce(added, { input: 0n, cachedInput: 0n, output: 0n });
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
