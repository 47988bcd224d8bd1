import type { CatalogModel } from '#catalog/catalog.js';
import { estimateInput } from '#catalog/token-estimate.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { ImageGeneration } from './image-request.js';

/** OpenAI's image of high quality at its largest size; vendors that take more say so as the model's maxOutputTokens. */
const MOST_OUTPUT_TOKENS = 6_240;
/** OpenAI's counts at 1024x1024, for vendors that report nothing. What is left to the vendor is taken for medium. */
const LIKELY_OUTPUT_TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
/** What OpenAI counts for an image that is handed over: at the most, and in the usual way. */
const MOST_INPUT_TOKENS = 7_500;
const LIKELY_INPUT_TOKENS = 400;
/** An image that is sent while it is not whole yet. */
const PARTIAL_TOKENS = 100;

interface ImageWork {
  readonly model: CatalogModel;
  readonly asked: Pick<ImageGeneration, 'quality' | 'count' | 'partialImages'>;
  readonly prompts: readonly string[];
  readonly inputImages: number;
}

/** Tokens of a call that is priced by them. */
export interface ImageTokens {
  /** No fewer than its vendor can count: what is held. */
  readonly most: TokenCounts;
  /** Of one image, where the vendor reports nothing. */
  readonly likely: TokenCounts;
}

/** What images take in tokens: of the text and the images that are handed over, and of those that are made. */
export function measureImages({ model, asked, prompts, inputImages }: ImageWork): ImageTokens {
  const { maxInputTokens, maxOutputTokens = MOST_OUTPUT_TOKENS } = model.limits;
  const partial = (asked.partialImages ?? 0) * PARTIAL_TOKENS;
  const made = asked.count * prompts.length;
  const texts = prompts.map(textOf);
  const text = texts.reduce((total, { most }) => total + most, 0n);
  const longest = texts.reduce((most, { likely }) => (likely > most ? likely : most), 0n);
  // Vendors that make one image a call read its input for each.
  const calls = BigInt(made);
  const read =
    maxInputTokens === undefined ? BigInt(inputImages * MOST_INPUT_TOKENS) : BigInt(maxInputTokens);
  return {
    most: {
      input: text * BigInt(asked.count),
      cachedInput: 0n,
      output: 0n,
      imageInput: inputImages > 0 ? read * calls : 0n,
      imageOutput: BigInt(maxOutputTokens + partial) * calls,
    },
    likely: {
      input: longest,
      cachedInput: 0n,
      output: 0n,
      imageInput: BigInt(inputImages * LIKELY_INPUT_TOKENS),
      imageOutput: BigInt(likelyOutput(asked.quality, maxOutputTokens) + partial),
    },
  };
}

/** What all calls for the images of one charge took together; `likely` for each image that came without a report. */
export function tokensOfAll(
  made: readonly { readonly images: readonly unknown[]; readonly tokens?: TokenCounts | undefined }[],
  likely: TokenCounts,
): TokenCounts {
  const parts = made.map(({ images, tokens }) => tokens ?? times(likely, images.length));
  return parts.reduce(added, { input: 0n, cachedInput: 0n, output: 0n });
}

/** A prompt is sent with little around it. */
function textOf(prompt: string): { most: bigint; likely: bigint } {
  return estimateInput({ words: prompt }, {});
}

function likelyOutput(quality: string | undefined, most: number): number {
  const likely = LIKELY_OUTPUT_TOKENS[quality ?? ''] ?? LIKELY_OUTPUT_TOKENS['medium']!;
  return Math.min(likely, most);
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
