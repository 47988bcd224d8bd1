import { describe, expect, it } from 'vitest';
import { LongText } from '#platform/http/long-text.js';
import type { TalkKind } from '#upstream/outcomes.js';
import { readConversation } from './conversation-request.js';

const read = (kind: TalkKind, body: object) => readConversation(kind, { model: 'm', max_tokens: 1, ...body });
const ofResponse = (body: object) => readConversation('responses', { model: 'm', input: 'hi', ...body });
const FILE = { file_id: 'file-1' };
const said = (...content: object[]) => [{ role: 'user', content }];

describe('what a vendor keeps', () => {
  it.each<[string, object, RegExp]>([
    [
      'previous_response_id',
      { previous_response_id: 'resp_1', input: undefined },
      /earlier input and output/,
    ],
    ['conversation', { conversation: { id: 'conv_1' } }, /earlier input and output/],
    ['prompt', { prompt: { id: 'pmpt_1' } }, /instructions/],
    ['input', { input: [{ type: 'item_reference', id: 'msg_1' }] }, /complete items/],
    ['input', { input: [{ id: 'msg_1' }] }, /complete items/],
    ['input', { input: [{ type: null, id: 'msg_1' }] }, /complete items/],
    ['input', { input: said({ type: 'input_file', ...FILE }) }, /file_id/],
    ['input', { input: said({ type: 'input_image', ...FILE }) }, /file_id/],
    [
      'input',
      { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', ...FILE }] }] },
      /file_id/,
    ],
  ])('cannot be reached with the ID of a response: %s %j', (param, body, message) => {
    expect(() => ofResponse(body)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param, message: expect.stringMatching(message) }),
    );
  });

  const source = { type: 'file', ...FILE };
  it.each<[TalkKind, object]>([
    ['chat', { type: 'file', file: FILE }],
    ['messages', { type: 'document', source }],
    ['messages', { type: 'image', source }],
    ['messages', { type: 'tool_result', content: [{ type: 'image', source }] }],
    ['messages', { type: 'document', source: { type: 'content', content: [{ type: 'image', source }] } }],
  ])('cannot be reached with the ID of a file in %s %j', (kind, part) => {
    const refused = expect.objectContaining({ code: 'invalid_value', param: 'messages' });
    expect(() => read(kind, { messages: said(part) })).toThrow(refused);
  });

  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'short' }] };
  const turn = [
    { role: 'user', content: 'hi' },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'done' },
  ] as const;
  const inputOf = (item: object) => ofResponse({ input: [turn[0], item, turn[1], turn[2]] }).body['input'];

  it.each<[string, object]>([
    ['nothing', {}],
    ['null', { encrypted_content: null, content: null }],
    ['an empty text', { encrypted_content: '' }],
    ['no text', { encrypted_content: {} }],
    ['an empty list', { content: [] }],
    ['a list of empty parts', { content: [null, {}, { type: 'reasoning_text', text: '' }] }],
    ['no list', { content: 'text' }],
  ])('is left out as reasoning that only has an ID: %s', (_what, held) => {
    expect(inputOf({ ...reasoning, ...held })).toEqual(turn);
  });

  it.each<[string, object]>([
    ['a text', { encrypted_content: 'sealed' }],
    ['a long text', { encrypted_content: LongText.of([Buffer.from('sealed')]) }],
    ['parts', { content: [{ type: 'reasoning_text', text: 'why' }] }],
  ])('is not reasoning that contains %s', (_what, held) => {
    expect(inputOf({ ...reasoning, ...held })).toContainEqual({ ...reasoning, ...held });
  });

  it('cannot be all that a response is requested with', () => {
    const refused = expect.objectContaining({ code: 'missing_required_parameter', param: 'input' });
    expect(() => ofResponse({ input: [reasoning] })).toThrow(refused);
  });

  it('does not include anything that a client sends whole', () => {
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"file_id":"mine"}' },
      { type: 'function_call_output', call_id: 'c', output: 'done' },
    ];
    const nothing = { previous_response_id: null, conversation: null, prompt: null };
    expect(ofResponse({ input, ...nothing }).body).toEqual({ model: 'm', input });
    const used = said({ type: 'tool_use', id: 't', name: 'f', input: FILE });
    expect(read('messages', { messages: used }).body).toMatchObject({ messages: used });
  });
});
