import type { CatalogModel } from '#catalog/catalog.js';
import { measureImages } from '#catalog/image-estimate.js';
import { limitsOf, refuseBeyondLimits } from '#catalog/model-limits.js';
import { ApiError } from '#platform/errors.js';
import { dimensionsOfFamily } from '#pricing/price-book.js';
import type { Dimensions } from '#pricing/rates.js';
import type { TokenCounts } from '#pricing/token-kinds.js';

/** Work of a model, by what its price follows from. */
export interface WantedWork {
  readonly model: string;
  readonly n?: number | undefined;
  readonly seconds?: number | undefined;
  readonly dimensions?: Dimensions | undefined;
  readonly tokens?: Partial<Record<keyof TokenCounts, number>> | undefined;
  /** To estimate tokens by. */
  readonly text?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
}

/** What work amounts to in the words of a price; a text is measured apart. */
interface MeasuredWork {
  readonly units: bigint;
  readonly tokens: TokenCounts | null;
  readonly dimensions: Dimensions | undefined;
}

/** @throws ApiError for units and dimensions that requests for the model do not have, and beyond its limits */
export function measureWork(model: CatalogModel, wanted: WantedWork): MeasuredWork {
  refuseForeignDimensions(model, wanted);
  const dimensions = dimensionsOf(model, wanted);
  return { ...measureUnits(model, { ...wanted, dimensions }), dimensions };
}

/** What a request of the family cannot say would be ignored, and the price be that of something else. @throws ApiError */
function refuseForeignDimensions({ id, family }: CatalogModel, { dimensions = {} }: WantedWork): void {
  // The length is said as seconds.
  const known: readonly string[] = dimensionsOfFamily[family].filter((name) => name !== 'length');
  const foreign = Object.entries(dimensions).find(
    ([name, value]) => value !== undefined && !known.includes(name),
  );
  if (!foreign) return;
  const param = `dimensions.${foreign[0]}`;
  const instead = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes none';
  throw new ApiError('invalid_value', `${param} is not a dimension of ${id}: ${instead}.`, { param });
}

function measureUnits(model: CatalogModel, wanted: WantedWork): Omit<MeasuredWork, 'dimensions'> {
  refuseOtherUnits(model, wanted);
  const { n, seconds = secondsOf(model), text } = wanted;
  refuseImpossible(model, { ...wanted, seconds });
  if (model.unit === 'second') return { units: BigInt(seconds), tokens: null };
  if (model.unit === 'call') return { units: BigInt(n ?? 1), tokens: null };
  if (isByImage(model, wanted)) return { units: BigInt(n ?? 1), tokens: tokensOfImages(model, wanted) };
  return { units: 1n, tokens: text === undefined ? tokensOf(model, wanted) : null };
}

/** What a call takes that does not say: only videos have a default. */
function secondsOf(model: CatalogModel): number {
  return model.family === 'video' ? limitsOf(model).defaultSeconds : 1;
}

/** What no call could be, as gateways refuse it. @throws ApiError */
function refuseImpossible(model: CatalogModel, wanted: WantedWork & { seconds: number }): void {
  const { id, family } = model;
  const { n = 1, seconds, dimensions: { resolution } = {} } = wanted;
  if (family === 'image') {
    const inputImages = { value: inputImagesOf(model, wanted), param: 'dimensions.input' };
    return refuseBeyondLimits(model, { images: { value: n, param: 'n' }, inputImages });
  }
  if (n !== 1)
    throw new ApiError('invalid_value', `n must be 1 for ${id}, which makes one per call.`, { param: 'n' });
  if (family === 'video')
    refuseBeyondLimits(model, {
      seconds: { value: seconds, param: 'seconds' },
      resolution:
        resolution === undefined ? undefined : { value: resolution, param: 'dimensions.resolution' },
    });
}

/** A model that only edits is always handed an image. */
function dimensionsOf(model: CatalogModel, { dimensions }: WantedWork): Dimensions | undefined {
  const isEdit = model.family === 'image' && limitsOf(model).minInputImages > 0;
  return isEdit ? { input: 'image', ...dimensions } : dimensions;
}

/** As few as make it a call. */
function inputImagesOf(model: CatalogModel, { dimensions }: WantedWork): number {
  return dimensions?.input === 'image' ? Math.max(1, limitsOf(model).minInputImages) : 0;
}

/** Images that are priced by the token may be asked for by their number, as gateways hold for them. */
function isByImage({ family, unit }: CatalogModel, { tokens }: WantedWork): boolean {
  return family === 'image' && unit === 'token' && !tokens;
}

function tokensOfImages(model: CatalogModel, wanted: WantedWork): TokenCounts {
  const { n: count = 1, text = '', dimensions } = wanted;
  const inputImages = inputImagesOf(model, wanted);
  return measureImages({ model, count, prompts: [text], quality: dimensions?.quality, inputImages }).most;
}

function refuseOtherUnits(model: CatalogModel, wanted: WantedWork): void {
  const { seconds, tokens } = wanted;
  const n = isByImage(model, wanted) ? undefined : wanted.n;
  const foreign = Object.entries({ call: n, second: seconds, token: tokens }).find(
    ([unit, value]) => unit !== model.unit && value !== undefined,
  );
  if (!foreign) return;
  const param = { call: 'n', second: 'seconds', token: 'tokens' }[foreign[0]] ?? null;
  throw new ApiError('invalid_value', `${param}: ${model.id} is priced by the ${model.unit}.`, { param });
}

function tokensOf(model: CatalogModel, { tokens }: WantedWork): TokenCounts {
  if (!tokens) {
    const message = `tokens is required: ${model.id} is priced by the token.`;
    throw new ApiError('missing_required_parameter', message, { param: 'tokens' });
  }
  const counted = Object.entries(tokens).map(([name, count]) => [name, BigInt(count)] as const);
  return { input: 0n, cachedInput: 0n, output: 0n, ...Object.fromEntries(counted) };
}
