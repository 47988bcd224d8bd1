import type { ModelLimits } from '#catalog/catalog.js';
import {
  estimateSpeech,
  type MeasuredTokens,
  mostOutputTokens,
  type TokenEstimate,
} from '#catalog/token-estimate.js';
import type { Conversation } from './conversation-request.js';

export { estimateInput, type MeasuredTokens, type TokenEstimate } from '#catalog/token-estimate.js';

/**
 * The answers to a request together. Text is metered while it streams, so nothing is likely beforehand; the tokens of a
 * sound follow from its text.
 */
export function estimateOutput(asked: Conversation, limits: ModelLimits): TokenEstimate {
  if (asked.kind === 'speech') return speechOf(asked, limits);
  return { most: mostOutput(asked, limits), likely: 0n };
}

/** What is known of an answer's length before it is made: the length of a sound, by its text. */
export function speechOf(asked: Conversation, limits: ModelLimits): MeasuredTokens {
  return estimateSpeech(String(asked.body['input']), limits);
}

/** The most that the answers to a request may be long together, in tokens. */
export function mostOutput({ maxOutputTokens, choices }: Conversation, limits: ModelLimits): bigint {
  return mostOutputTokens({ maxOutputTokens: maxOutputTokens?.value, choices }, limits);
}
