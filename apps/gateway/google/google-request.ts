import type { CatalogModel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { asBody, type Body, invalid, isAbsent } from '../http/fields.js';
import { knownFields } from '../http/known-fields.js';
import { MAX_MODEL_CHARS } from '../http/limits.js';
import { type ModelChoice, readModelChoice } from '../routing/model-choice.js';
import { type ImageGeneration, readImageGeneration } from '../images/image-request.js';
import { readVideoCreation, refuseImageInput, type VideoCreation } from '../videos/video-request.js';

/** How native model names begin, by call: here, and at Google. */
export const NATIVE = {
  predict: { name: /^(imgmodel|imagen)/, family: 'image' },
  predictLongRunning: { name: /^(vidmodel|veo)/, family: 'video' },
} as const;

export type NativeCall = keyof typeof NATIVE;
export const NATIVE_CALLS = Object.keys(NATIVE) as readonly NativeCall[];

/** The native calls of a model: its name and its family have to agree. */
export function nativeCallsOf({ id, family }: Pick<CatalogModel, 'id' | 'family'>): NativeCall[] {
  return NATIVE_CALLS.filter((call) => NATIVE[call].name.test(id) && family === NATIVE[call].family);
}

/** The calls that answer contents, and the one that counts their tokens. */
export const CONTENTS_CALLS = ['generateContent', 'streamGenerateContent', 'countTokens'] as const;

/** Splits `imgmodel-4:predict`, the last segment of a native path. Null if it names none of the calls. */
export function readTarget<T extends string>(
  target: string,
  calls: readonly T[],
): { model: string; call: T } | null {
  const colon = target.lastIndexOf(':');
  const call = calls.find((each) => each === target.slice(colon + 1));
  return colon > 0 && call !== undefined ? { model: target.slice(0, colon), call } : null;
}

/** The models of a native call, whose path names the first, and its body without `models` and `dry_run`. @throws ApiError */
export function readNativeChoice(sent: unknown, model: string, caller: Caller): ModelChoice {
  const { models, dry_run, ...body } = asBody(sent);
  return { ...readModelChoice({ model, models, dry_run }, caller), body };
}

/** The native names of common fields, used in refusals. */
const NATIVE_NAMES: Record<string, string> = {
  prompt: 'instances[0].prompt',
  n: 'parameters.sampleCount',
  aspect_ratio: 'parameters.aspectRatio',
  resolution: 'parameters.resolution',
  duration: 'parameters.durationSeconds',
  seconds: 'parameters.durationSeconds',
  generate_audio: 'parameters.generateAudio',
};

/** The fields that Google's clients send. Fields not read here are not sent to any upstream, and cost nothing. */
const FIELDS = {
  predict: new Set(['instances', 'parameters']),
  predictLongRunning: new Set(['instances', 'parameters', 'webhookConfig']),
};
const INSTANCE_FIELDS = new Set(['prompt']);
const PARAMETERS = {
  predict: new Set([
    'sampleCount',
    'aspectRatio',
    'sampleImageSize',
    'personGeneration',
    'negativePrompt',
    'seed',
    'guidanceScale',
    'language',
    'safetySetting',
    'includeRaiReason',
    'includeSafetyAttributes',
    'outputOptions',
    'addWatermark',
    'enhancePrompt',
  ]),
  predictLongRunning: new Set([
    'sampleCount',
    'durationSeconds',
    'aspectRatio',
    'resolution',
    'generateAudio',
    'negativePrompt',
    'personGeneration',
    'enhancePrompt',
    'seed',
  ]),
};

/** A `:predict` request: `asked.count` images per prompt. */
export interface Prediction {
  readonly asked: ImageGeneration;
  readonly prompts: readonly string[];
}

/**
 * Reads `:predict`: the native body, or the common one, which is accepted here too. The answer is base64 either way. @throws
 * ApiError
 */
export function readPredict(parsed: unknown, model: string): Prediction {
  const body = asBody(parsed);
  if (isAbsent(body['instances']) && isAbsent(body['parameters'])) {
    if (!isAbsent(body['model']) && body['model'] !== model) throw invalid('model', 'differs from the path');
    const asked = readImageGeneration({ ...body, model, response_format: 'b64_json' });
    return { asked, prompts: [asked.prompt] };
  }
  const { instances, parameters } = readNative(body, 'predict');
  const { sampleCount, aspectRatio, sampleImageSize } = parameters;
  const each = instances.map((instance, index) =>
    namedBy({ prompt: `instances[${index}].prompt`, resolution: 'parameters.sampleImageSize' }, () =>
      readImageGeneration({
        model,
        prompt: instance['prompt'],
        n: sampleCount,
        aspect_ratio: aspectRatio,
        resolution: typeof sampleImageSize === 'string' ? sampleImageSize : undefined,
        response_format: 'b64_json',
      }),
    ),
  );
  return { asked: each[0]!, prompts: each.map(({ prompt }) => prompt) };
}

/** Reads `:predictLongRunning`: one video of one prompt, without images and without a webhook. @throws ApiError */
export function readPredictLongRunning(parsed: unknown, model: string): VideoCreation {
  const body = asBody(parsed);
  if (!isAbsent(body['webhookConfig'])) {
    const message = 'There is no webhook: poll the operation that is answered.';
    throw new ApiError('webhook_not_supported', message, { param: 'webhookConfig' });
  }
  refuseImageInput(body);
  const { instances, parameters } = readNative(body, 'predictLongRunning');
  if (instances.length > 1) throw invalid('instances', 'must hold one prompt for a video');
  const { sampleCount, durationSeconds, aspectRatio, resolution, generateAudio } = parameters;
  if (!isAbsent(sampleCount) && sampleCount !== 1)
    throw invalid('parameters.sampleCount', 'must be 1 for a video');
  return readVideoCreation({
    model,
    prompt: instances[0]?.['prompt'],
    duration: durationSeconds,
    aspect_ratio: aspectRatio,
    resolution,
    generate_audio: generateAudio,
  });
}

/** More than any model makes in one call. The model's own limit applies to the sum. */
export const MAX_INSTANCES = 100;

function readNative(body: Body, call: NativeCall): { instances: Body[]; parameters: Body } {
  const instances = body['instances'];
  if (!Array.isArray(instances) || instances.length === 0) {
    throw new ApiError('missing_required_parameter', 'instances is required: a list with a prompt in each.', {
      param: 'instances',
    });
  }
  if (instances.length > MAX_INSTANCES) throw invalid('instances', `must be at most ${MAX_INSTANCES}`);
  knownFields(body, FIELDS[call]);
  return {
    instances: instances.map((instance, index) => {
      const name = `instances[${index}]`;
      return knownFields(memberOf(instance, name), INSTANCE_FIELDS, `${name}.`);
    }),
    parameters: knownFields(
      memberOf(body['parameters'] ?? {}, 'parameters'),
      PARAMETERS[call],
      'parameters.',
    ),
  };
}

function memberOf(value: unknown, param: string): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw new ApiError('invalid_type', `${param} must be an object.`, { param });
}

/** Runs a call, and translates its refusals to the names of the native body. */
export async function inNativeNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? renamed(error, NATIVE_NAMES) : error;
  }
}

function namedBy<T>(names: Record<string, string>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ApiError ? renamed(error, names) : error;
  }
}

function renamed(error: ApiError, names: Readonly<Record<string, string>>): ApiError {
  const { code, message, param, status, retryAfterSeconds, shouldRetry, cause } = error;
  const native = param === null ? undefined : names[param];
  if (param === null || native === undefined) return error;
  const worded = message.startsWith(`${param} `) ? native + message.slice(param.length) : message;
  return new ApiError(code, worded, { param: native, status, retryAfterSeconds, shouldRetry, cause });
}

/** A path that does not exist in this style. */
export function noSuchCall(target: string): ApiError {
  const contents = CONTENTS_CALLS.map((call) => `models/{model}:${call}`).join(', ');
  const offered = `${contents}, models/{imgmodel*|imagen*}:predict, models/{vidmodel*|veo*}:predictLongRunning and files/{id}:download`;
  return new ApiError('unknown_url', `There is no ${target.slice(0, MAX_MODEL_CHARS)} here, but ${offered}.`);
}
