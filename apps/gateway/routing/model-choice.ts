import type { Caller } from '#identity/key-authenticator.js';
import { MAX_ATTEMPTS } from '#ledger/charges/charge-ids.js';
import { ApiError } from '#platform/errors.js';
import { type Body, invalid, isAbsent, optionalBoolean, optionalString } from '../http/fields.js';
import { MAX_MODEL_CHARS } from '../http/limits.js';

/** The most models of a request. Each one tried is measured and held for separately. */
export const MAX_MODELS = MAX_ATTEMPTS;

/** The same fields in a form. */
export const FORM_CHOICE = { lists: ['models'], flags: ['dry_run'] };

/** The routing fields of a request. The rest of its body is for the vendor. */
export interface ModelChoice {
  /** In the order in which they are tried: at least one, each once. */
  readonly models: readonly string[];
  /** The number of models named by the request. The others are its key's. */
  readonly named: number;
  /** Nothing is held or sent: the answer says what would happen. */
  readonly dryRun: boolean;
  readonly body: Body;
}

/**
 * Reads `model`, `models` and `dry_run`. A request without `models` has its key's fallback models after its model, if there are
 * any. An empty list counts as a list. @throws ApiError naming the field
 */
export function readModelChoice(
  sent: Body,
  { fallbackModels = [] }: Pick<Caller, 'fallbackModels'>,
): ModelChoice {
  const { models: others, dry_run: _, ...body } = sent;
  const first = optionalString(body, 'model', MAX_MODEL_CHARS);
  const named = [...new Set([first ?? '', ...readOthers(others)])].filter((id) => id.trim() !== '');
  if (named.length === 0) {
    throw new ApiError('missing_required_parameter', 'model is required.', { param: 'model' });
  }
  if (named.length > MAX_MODELS) throw invalid('models', `must be at most ${MAX_MODELS} with model`);
  const ofKey = isAbsent(others) ? fallbackModels.filter((id) => !named.includes(id)) : [];
  const models = [...named, ...ofKey].slice(0, MAX_MODELS);
  return { models, named: named.length, dryRun: optionalBoolean(sent, 'dry_run') ?? false, body };
}

/** The refusal of `models` for work that only what made its source can do. A key's fallbacks do not apply to it either. */
export function noOtherModel(source: string): ApiError {
  return invalid('models', `must be left out: only what made the ${source} can do this`);
}

function readOthers(value: unknown): string[] {
  if (isAbsent(value)) return [];
  if (!Array.isArray(value))
    throw new ApiError('invalid_type', 'models must be an array.', { param: 'models' });
  if (value.length > MAX_MODELS) throw invalid('models', `must be at most ${MAX_MODELS} with model`);
  return value.map((id: unknown) => optionalString({ models: id }, 'models', MAX_MODEL_CHARS) ?? '');
}
