import type { TokenCounts } from '#pricing/token-kinds.js';
import type { CatalogModel } from './catalog.js';
import { estimateInput } from './token-estimate.js';

/** OpenAI's largest image in high quality. Vendors with more set the model's maxOutputTokens. */
const MOST_OUTPUT_TOKENS = 6_240;
/** OpenAI's counts at 1024x1024, for vendors that report nothing. An unspecified quality counts as medium. */
const LIKELY_OUTPUT_TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
/** OpenAI's counts for an input image: the most, and the usual. */
const MOST_INPUT_TOKENS = 7_500;
const LIKELY_INPUT_TOKENS = 400;
/** An image that is sent before it is complete. */
const PARTIAL_TOKENS = 100;

interface ImageWork {
  readonly model: Pick<CatalogModel, 'limits'>;
  readonly prompts: readonly string[];
  /** Images per prompt. */
  readonly count: number;
  readonly quality?: string | undefined;
  /** Sent before the image is complete. */
  readonly partialImages?: number | undefined;
  readonly inputImages: number;
}

/** Tokens of a call that is priced by them. */
export interface ImageTokens {
  /** At least what its vendor can count: the amount to hold. */
  readonly most: TokenCounts;
  /** Per image, if the vendor reports nothing. */
  readonly likely: TokenCounts;
}

/** The tokens of images: of the text and the input images, and of the output images. */
export function measureImages(work: ImageWork): ImageTokens {
  const { model, count, prompts, inputImages, partialImages = 0, quality = '' } = work;
  const { maxInputTokens: read = MOST_INPUT_TOKENS, maxOutputTokens = MOST_OUTPUT_TOKENS } = model.limits;
  const partial = partialImages * PARTIAL_TOKENS;
  // A prompt is sent with little around it.
  const texts = prompts.map((words) => estimateInput({ words }, {}));
  const text = texts.reduce((total, { most }) => total + most, 0n);
  const longest = texts.reduce((most, { likely }) => (likely > most ? likely : most), 0n);
  // Vendors with one image per call read its input for each.
  const calls = BigInt(count * prompts.length);
  const handedOver = BigInt(inputImages * read);
  const likely = LIKELY_OUTPUT_TOKENS[quality] ?? LIKELY_OUTPUT_TOKENS['medium']!;
  const nothing = { cachedInput: 0n, output: 0n };
  return {
    most: {
      ...nothing,
      input: text * BigInt(count),
      imageInput: handedOver * calls,
      imageOutput: BigInt(maxOutputTokens + partial) * calls,
    },
    likely: {
      ...nothing,
      input: longest,
      imageInput: BigInt(inputImages * LIKELY_INPUT_TOKENS),
      imageOutput: BigInt(Math.min(likely, maxOutputTokens) + partial),
    },
  };
}
