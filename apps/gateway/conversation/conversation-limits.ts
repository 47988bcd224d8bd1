import type { CatalogModel } from '#catalog/catalog.js';
import { invalid } from '../http/fields.js';
import type { Measures } from '#catalog/model-limits.js';
import { INPUT_FIELD } from './conversation-fields.js';
import type { Conversation } from './conversation-request.js';
import type { StreamKind } from '#upstream/outcomes.js';
import type { SoundSeconds } from '../transcriptions/sound-file.js';
import type { MeasuredTokens } from '#catalog/token-estimate.js';

/** The demands of a conversation on its model. */
export function measuresOf(asked: Conversation, input: MeasuredTokens, sound: MeasuredTokens): Measures {
  const { kind, choices, maxOutputTokens } = asked;
  return {
    choices: { value: choices, param: kind === 'contents' ? 'generationConfig.candidateCount' : 'n' },
    inputTokens: { value: input.counted, param: INPUT_FIELD[kind] },
    outputTokens: kind === 'speech' ? { value: sound.counted, param: 'input' } : maxOutputTokens,
  };
}

/** Whether the model limits the input of each text alone: then it does not bound all of them together, and the vendor checks it. */
export function isLimitOfEach({ unit }: CatalogModel, kind: StreamKind): boolean {
  return kind === 'embeddings' && unit === 'token';
}

/**
 * For a model that is priced by the call, an input limit only covers what can be measured. Refuses files and documents. @throws
 * ApiError
 */
export function refuseUnmeasured(model: CatalogModel, { kind }: Conversation, input: MeasuredTokens): void {
  const { maxInputTokens } = model.limits;
  if (model.unit !== 'call' || maxInputTokens === undefined || !input.unbounded) return;
  const rule = `must be text and images for ${model.id}, which reads at most ${maxInputTokens} tokens`;
  throw invalid(INPUT_FIELD[kind], `${rule}: files and documents cannot be measured`);
}

/**
 * Refuses audio that is longer than the model's limit, and streams of models priced by the second, whose events do not report the
 * length. @throws ApiError
 */
export function refuseUnheard(
  { id, unit, limits: { maxSeconds } }: CatalogModel,
  { streamed }: Conversation,
  { likely }: SoundSeconds,
): void {
  if (maxSeconds !== undefined && likely > maxSeconds)
    throw invalid('file', `must be at most ${maxSeconds} seconds long for ${id}, not ${likely}`);
  if (streamed && unit === 'second') throw invalid('stream', `must be false for ${id}`);
}
