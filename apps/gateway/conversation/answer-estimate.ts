import type { ModelLimits } from '#catalog/catalog.js';
import {
  estimateSpeech,
  type MeasuredTokens,
  mostOutputTokens,
  type TokenEstimate,
} from '#catalog/token-estimate.js';
import { isAbsent } from '../http/fields.js';
import type { Conversation } from './conversation-request.js';

/**
 * The answers to a request together. Text is metered while it streams, so nothing is likely before; the tokens of a
 * sound follow from its text.
 */
export function estimateAnswer(asked: Conversation, limits: ModelLimits): TokenEstimate {
  if (asked.kind === 'speech') return measureSpeech(asked, limits);
  if (asked.kind === 'embeddings') return { most: 0n, likely: 0n };
  const { maxOutputTokens, choices } = asked;
  const most = mostOutputTokens({ maxOutputTokens: maxOutputTokens?.value, choices }, limits);
  const image = mayHoldImage(asked) ? MOST_IMAGE_TOKENS * BigInt(choices) : 0n;
  return { most: (most > image ? most : image) + mostThoughts(asked, limits), likely: 0n };
}

/** Google always generates a complete image, however few tokens were requested. The largest ones take this many. */
const MOST_IMAGE_TOKENS = 2_600n;

/** No price says that a model writes text alone: only the request rules an image out. */
function mayHoldImage({ kind, body }: Conversation): boolean {
  if (kind !== 'contents') return false;
  const { responseModalities: wanted } = (body['generationConfig'] ?? {}) as { responseModalities?: unknown };
  // For Google an empty list equals none.
  if (!Array.isArray(wanted) || wanted.length === 0) return true;
  return wanted.some((each: unknown) => String(each).toUpperCase() === 'IMAGE');
}

/** Vendors with these fields limit the answer by its limit, and the thinking only by the budget. */
function mostThoughts({ kind, body, choices }: Conversation, limits: ModelLimits): bigint {
  const { enable_thinking: isOn, thinking_budget: budget } = body;
  if (kind !== 'chat' || isOn === false || (isAbsent(isOn) && isAbsent(budget))) return 0n;
  const asked = Number.isInteger(budget) && Number(budget) > 0 ? Number(budget) : undefined;
  return mostOutputTokens({ maxOutputTokens: asked, choices }, limits);
}

/** What is known of an answer's length before it is made: the length of a sound, by its text. */
export function measureSpeech(asked: Conversation, limits: ModelLimits): MeasuredTokens {
  return estimateSpeech(String(asked.body['input']), limits);
}
