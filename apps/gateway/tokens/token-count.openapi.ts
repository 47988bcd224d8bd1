import { MAX_MODEL_CHARS } from '../http/limits.js';
import { json, type Operation, request, jsonAnswer, schema } from '../openapi/operation.js';

/** The answer of a count, in each vendor's field. */
export function countIn(field: string): Operation['answers'] {
  const tokens = schema.integer(undefined, { minimum: 0, examples: [12] });
  return jsonAnswer("The vendor's token count.", schema.object({ [field]: tokens }));
}

export const COUNT_REFUSALS = [
  'model_not_found',
  'model_not_allowed',
  'model_not_supported_here',
  'unknown_parameter',
  'upstream_rejected',
  'content_policy_violation',
  'rate_limit_exceeded',
] as const;

export const countMessageTokensOperation: Operation = {
  id: 'countMessageTokens',
  tag: 'Conversation',
  summary: 'Count the tokens of a message.',
  description: 'Free. Takes the fields of a message; fields about the answer do not count.',
  headers: { 'anthropic-version': schema.text('Sent by clients of this API style.') },
  body: json(
    request(
      {
        model: schema.text(undefined, { maxLength: MAX_MODEL_CHARS, examples: ['vendora-messages'] }),
        messages: schema.list({ type: 'object' }, { minItems: 1 }),
      },
      { system: { type: ['string', 'array'] }, tools: schema.list({ type: 'object' }) },
    ),
  ),
  answers: countIn('input_tokens'),
  refusals: COUNT_REFUSALS,
};
