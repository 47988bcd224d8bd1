import type { ModelLimits } from '#catalog/catalog.js';
import { estimateSpeech, mostOutputTokens, type TokenEstimate } from '#catalog/token-estimate.js';
import type { Conversation } from './conversation-request.js';

export { estimateInput, type TokenEstimate } from '#catalog/token-estimate.js';

/**
 * The answers to a request together. Text is metered while it streams, so nothing is likely beforehand; the tokens of a
 * sound follow from its text.
 */
export function estimateOutput(asked: Conversation, limits: ModelLimits): TokenEstimate {
  if (asked.kind === 'speech') return estimateSpeech(String(asked.body['input']), limits);
  return { most: mostOutput(asked, limits), likely: 0n };
}

/** The most that the answers to a request may be long together, in tokens. */
export function mostOutput(asked: Conversation, limits: ModelLimits): bigint {
  return mostOutputTokens(asked, limits);
}
