import { readJsonBody } from './answers.js';
import { type Exchange, optionalTextField, requiredTextField, seedOf, type Vendor } from './vendor.js';
import {
  answerWriting,
  lastPrompt,
  type Rendering,
  type ServerEvent,
  contentText,
  write,
  type Writing,
} from './writing.js';

/** `POST /v1/responses`, whole or streamed. The last event has the usage. */
export async function respond(vendor: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const model = requiredTextField(body, 'model');
  const turns =
    typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : body['input'];
  const prompt = lastPrompt(turns, 'input');
  const said = (turns as { content?: unknown }[]).map(({ content }) => contentText(content)).join('\n');
  const input = (optionalTextField(body, 'instructions') ?? '') + said;
  const writing = write({ prompt, input, maxTokens: body['max_output_tokens'] });
  const seed = seedOf(prompt, 0);
  const base = {
    id: `resp_${seed}`,
    object: 'response',
    created_at: Math.floor(vendor.clock.nowMs() / 1000),
    model,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
  };
  const rendering = render(writing, base, `msg_${seed}`);
  await answerWriting(vendor, exchange, { writing, rendering, isStreamed: body['stream'] === true });
}

const FAULT = { code: 'server_error', message: 'It broke as ordered.' };

function endOf(writing: Writing) {
  return {
    incomplete_details: writing.isCut ? { reason: 'max_output_tokens' } : null,
    usage: writing.isMetered ? usageOf(writing) : null,
  };
}

function render(writing: Writing, base: object, id: string): Rendering {
  const text = writing.tokens.join('');
  const item = (status: string, content: object[]) => ({ id, ...messageOf(status, content) });
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const status = writing.isCut ? 'incomplete' : 'completed';
  const begun = { ...base, status: 'in_progress', output: [], error: null, usage: null };
  const whole = {
    ...base,
    status,
    ...endOf(writing),
    output: [item('completed', [part(text)])],
    error: null,
  };
  let sequence_number = 0;
  const event = (type: string, fields: object): ServerEvent => {
    sequence_number += 1;
    return { event: type, data: { type, sequence_number, ...fields } };
  };
  const failed = { ...begun, status: 'failed', error: FAULT };
  return {
    whole,
    head: [
      event('response.created', { response: begun }),
      event('response.output_item.added', { output_index: 0, item: item('in_progress', []) }),
      event('response.content_part.added', { ...place, part: part('') }),
    ],
    token: (delta) => event('response.output_text.delta', { ...place, delta }),
    // Numbered as they are sent, after the tokens.
    get tail() {
      return [
        event('response.output_text.done', { ...place, text }),
        event('response.content_part.done', { ...place, part: part(text) }),
        event('response.output_item.done', { output_index: 0, item: item('completed', [part(text)]) }),
        event(`response.${status}`, { response: whole }),
      ];
    },
    get fault() {
      return event('response.failed', { response: failed });
    },
  };
}

function part(text: string) {
  return { type: 'output_text', text, annotations: [] };
}

function messageOf(status: string, content: object[]) {
  return { type: 'message', role: 'assistant', status, content };
}

function usageOf({ inputTokens, cachedTokens, tokens }: Writing) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: tokens.length,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + tokens.length,
  };
}
