import { anthropicError, readJsonBody, sendJson, VendorRefusal, refusedField } from './answers.js';
import { refuseAsOrdered } from './directives.js';
import { type Exchange, requiredTextField, seedOf, type Vendor } from './vendor.js';
import {
  answerWriting,
  lastPrompt,
  type Rendering,
  type ServerEvent,
  contentText,
  write,
  type Writing,
} from './writing.js';

/** `POST /v1/messages`, whole or streamed. Cached input is counted separately. */
export async function message(vendor: Vendor, exchange: Exchange): Promise<void> {
  const { body, model, prompt, input } = await readMessage(exchange);
  const maxTokens = body['max_tokens'];
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1) {
    throw refusedField('max_tokens', 'max_tokens: Field required', 'missing_required_parameter');
  }
  const writing = write({ prompt, input, maxTokens });
  const rendering = render(writing, { id: `msg_${seedOf(prompt, 0)}`, model });
  await answerWriting(vendor, exchange, { writing, rendering, isStreamed: body['stream'] === true });
}

/** `POST /v1/messages/count_tokens`: the input tokens of such a message. */
export async function countMessage(_: Vendor, exchange: Exchange): Promise<void> {
  const { body, prompt, input } = await readMessage(exchange);
  const foreign = ['max_tokens', 'stream'].find((name) => body[name] !== undefined);
  if (foreign !== undefined) throw new VendorRefusal(400, 'invalid_request', `${foreign}: Extra inputs`);
  const { directives, inputTokens } = write({ prompt, input, maxTokens: undefined });
  refuseAsOrdered(directives.faults);
  sendJson(exchange.response, 200, { input_tokens: inputTokens });
}

/** `input`: everything that counts. */
async function readMessage(exchange: Exchange) {
  if (!exchange.request.headers['anthropic-version']) {
    throw new VendorRefusal(400, 'missing_header', 'anthropic-version: header is required');
  }
  const body = await readJsonBody(exchange.request);
  const model = requiredTextField(body, 'model');
  const prompt = lastPrompt(body['messages'], 'messages');
  const said = (body['messages'] as { content?: unknown }[])
    .map(({ content }) => contentText(content))
    .join('\n');
  return { body, model, prompt, input: contentText(body['system']) + said };
}

function render(writing: Writing, { id, model }: { id: string; model: string }): Rendering {
  const { tokens } = writing;
  const begun = { ...UNENDED, id, model };
  const stop_reason = writing.isCut ? 'max_tokens' : 'end_turn';
  const content = [{ type: 'text', text: tokens.join('') }];
  const delta = { stop_reason, stop_sequence: null };
  return {
    whole: { ...begun, content, stop_reason, ...metered(writing, usageOf(writing, tokens.length)) },
    head: [
      event('message_start', { message: { ...begun, ...metered(writing, usageOf(writing, 1)) } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('ping'),
    ],
    token: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    tail: [
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta, ...metered(writing, { output_tokens: tokens.length }) }),
      event('message_stop'),
    ],
    fault: {
      event: 'error',
      data: anthropicError(new VendorRefusal(529, 'overloaded', 'It broke as ordered.')),
    },
  };
}

const UNENDED = {
  type: 'message',
  role: 'assistant',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

function event(type: string, fields: object = {}): ServerEvent {
  return { event: type, data: { type, ...fields } };
}

function metered({ isMetered }: Writing, usage: object) {
  return isMetered ? { usage } : {};
}

function usageOf({ inputTokens, cachedTokens }: Writing, output_tokens: number) {
  return {
    input_tokens: inputTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens,
  };
}
