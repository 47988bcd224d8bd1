import { ApiError } from '#platform/errors.js';
import type { CatalogModel, ModelLimits } from './catalog.js';

/** A value of a request, and the field that an error names. */
export interface Measure<T> {
  readonly value: T;
  readonly param: string;
}

/** What a request asks of its model: everything that limits apply to, on every path and for every kind of price. */
export interface Measures {
  readonly images?: Measure<number>;
  readonly inputImages?: Measure<number>;
  readonly seconds?: Measure<number>;
  readonly size?: Measure<string> | undefined;
  readonly resolution?: Measure<string> | undefined;
  readonly aspectRatio?: Measure<string> | undefined;
  /** Answers per request. */
  readonly choices?: Measure<number>;
  /** As far as they can be counted before the call. */
  readonly inputTokens?: Measure<bigint> | undefined;
  readonly outputTokens?: Measure<bigint | number> | undefined;
}

/** Defaults for models without limits in the catalog. */
const DEFAULTS = {
  maxImages: 1,
  minInputImages: 0,
  defaultSeconds: 5,
  minSeconds: 1,
  maxSeconds: 15,
  maxChoices: 128,
};

export function limitsOf({ limits }: Pick<CatalogModel, 'limits'>): ModelLimits & typeof DEFAULTS {
  return { ...DEFAULTS, ...limits };
}

/** The only place that checks requests and quotes against their model's limits. @throws ApiError before anything is held */
export function refuseBeyondLimits(model: CatalogModel, asked: Measures): void {
  const limits = limitsOf(model);
  refuseRange(model, asked.images, [1, limits.maxImages]);
  refuseRange(model, asked.seconds, [limits.minSeconds, limits.maxSeconds]);
  refuseRange(model, asked.choices, [1, limits.maxChoices]);
  refuseWithoutImage(model, asked.inputImages, limits.minInputImages);
  refuseUnlessMade(model, asked.size, limits.sizes);
  // A video model without a list of resolutions makes only its own.
  refuseUnlessMade(
    model,
    asked.resolution,
    limits.resolutions ?? (model.family === 'video' ? [] : undefined),
  );
  refuseUnlessMade(model, asked.aspectRatio, limits.aspectRatios);
  refuseTokens(model, asked);
}

function refuseRange(
  { id }: CatalogModel,
  asked: Measure<number> | undefined,
  [least, most]: readonly [number, number],
): void {
  if (asked === undefined || (asked.value >= least && asked.value <= most)) return;
  throw invalid(asked.param, `must be from ${least} to ${most} for ${id}`);
}

function refuseWithoutImage({ id }: CatalogModel, asked: Measure<number> | undefined, least: number): void {
  if (asked === undefined || asked.value >= least) return;
  const message = `${id} edits images and needs at least ${least}: send them to POST /v1/images/edits.`;
  throw new ApiError('missing_required_parameter', message, { param: asked.param });
}

/** @throws ApiError for what a model does not make. Without a list it makes everything, or its upstream decides. */
function refuseUnlessMade(
  { id }: CatalogModel,
  asked: Measure<string> | undefined,
  made: ModelLimits['sizes'],
): void {
  if (asked === undefined || made === undefined || made.includes(asked.value)) return;
  const offered = made.length > 0 ? ` It makes ${made.join(', ')}.` : '';
  throw new ApiError('invalid_value', `${id} does not support ${asked.value}.${offered}`, {
    param: asked.param,
  });
}

function refuseTokens({ id, limits }: CatalogModel, { inputTokens, outputTokens }: Measures): void {
  const { maxInputTokens, maxOutputTokens } = limits;
  if (inputTokens && maxInputTokens !== undefined && inputTokens.value > maxInputTokens) {
    const { param, value } = inputTokens;
    throw invalid(param, `must have at most ${maxInputTokens} tokens for ${id}, not about ${value}`);
  }
  if (outputTokens && maxOutputTokens !== undefined && outputTokens.value > maxOutputTokens) {
    throw invalid(outputTokens.param, `must be at most ${maxOutputTokens} for ${id}`);
  }
}

function invalid(param: string, rule: string): ApiError {
  return new ApiError('invalid_value', `${param} ${rule}.`, { param });
}
