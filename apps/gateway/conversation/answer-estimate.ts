import type { ModelLimits } from '#catalog/catalog.js';
import {
  estimateSpeech,
  type MeasuredTokens,
  mostOutputTokens,
  type TokenEstimate,
} from '#catalog/token-estimate.js';
import type { Conversation } from './conversation-request.js';

/**
 * The answers to a request together. Text is metered while it streams, so nothing is likely before; the tokens of a
 * sound follow from its text.
 */
export function estimateAnswer(asked: Conversation, limits: ModelLimits): TokenEstimate {
  if (asked.kind === 'speech') return measureSpeech(asked, limits);
  if (asked.kind === 'embeddings') return { most: 0n, likely: 0n };
  const { maxOutputTokens, choices } = asked;
  return { most: mostOutputTokens({ maxOutputTokens: maxOutputTokens?.value, choices }, limits), likely: 0n };
}

/** What is known of an answer's length before it is made: the length of a sound, by its text. */
export function measureSpeech(asked: Conversation, limits: ModelLimits): MeasuredTokens {
  return estimateSpeech(String(asked.body['input']), limits);
}
