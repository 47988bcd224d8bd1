import { readJsonBody } from './answers.js';
import { type Exchange, requiredTextField, seedOf, type Vendor } from './vendor.js';
import { answerWriting, lastPrompt, type Rendering, contentText, write, type Writing } from './writing.js';

/** `POST /v1/chat/completions`, whole or streamed. A stream reports usage only with `include_usage`. */
export async function completeChat(vendor: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const model = requiredTextField(body, 'model');
  const { messages } = body;
  const prompt = lastPrompt(messages, 'messages');
  const input = (messages as { content?: unknown }[]).map(({ content }) => contentText(content)).join('\n');
  const maxTokens = body['max_completion_tokens'] ?? body['max_tokens'];
  const writing = write({ prompt, input, maxTokens });
  const options = body['stream_options'] as { include_usage?: unknown } | null | undefined;
  const base = {
    id: `chatcmpl-${seedOf(prompt, 0)}`,
    created: Math.floor(vendor.clock.nowMs() / 1000),
    model,
  };
  const rendering = render(writing, base, options?.include_usage === true);
  await answerWriting(vendor, exchange, { writing, rendering, isStreamed: body['stream'] === true });
}

function render(writing: Writing, base: object, isUsageAsked: boolean): Rendering {
  const { tokens, isMetered } = writing;
  const usage = usageOf(writing);
  const finish_reason = writing.isCut ? 'length' : 'stop';
  const chunkBase = { ...base, object: 'chat.completion.chunk', ...(isUsageAsked && { usage: null }) };
  const chunk = (delta: object, end: string | null = null) => ({
    data: { ...chunkBase, choices: [{ index: 0, delta, finish_reason: end }] },
  });
  const message = { role: 'assistant', content: tokens.join(''), refusal: null };
  const last = { data: { ...chunkBase, choices: [], usage } };
  return {
    whole: {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      ...(isMetered && { usage }),
    },
    head: [chunk({ role: 'assistant', content: '' })],
    token: (content) => chunk({ content }),
    tail: [chunk({}, finish_reason), ...(isUsageAsked && isMetered ? [last] : []), { data: '[DONE]' }],
    fault: { data: { error: FAULT } },
  };
}

const FAULT = { message: 'It broke as ordered.', type: 'server_error', code: 'server_error' };

function usageOf({ tokens, inputTokens, cachedTokens }: Writing) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: tokens.length,
    total_tokens: inputTokens + tokens.length,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
