import { describe, expect, it } from 'vitest';
import type { WrittenKind } from '#upstream/outcomes.js';
import { ApiError } from '#platform/errors.js';
import { MAX_EMBEDDED } from '../http/limits.js';
import { readConversation, withModelsLimit } from './conversation-request.js';

const MESSAGES = [{ role: 'user', content: 'hi' }];
const CHAT = { model: 'm', messages: MESSAGES };
const MESSAGE = { ...CHAT, max_tokens: 10 };
const RESPONSE = { model: 'm', input: 'hi' };
const SPEECH = { model: 'm', input: 'hi', voice: 'alloy' };

describe('what billing depends on', () => {
  it('is read from each dialect', () => {
    expect(
      readConversation('chat', { ...CHAT, max_tokens: 5, max_completion_tokens: 7, n: 2 }),
    ).toMatchObject({
      streamed: false,
      maxOutputTokens: { value: 7, param: 'max_completion_tokens' },
      choices: 2,
    });
    expect(readConversation('responses', { ...RESPONSE, stream: true, max_output_tokens: 9 })).toMatchObject({
      streamed: true,
      maxOutputTokens: { value: 9, param: 'max_output_tokens' },
      choices: 1,
    });
    expect(readConversation('messages', MESSAGE)).toMatchObject({
      maxOutputTokens: { value: 10, param: 'max_tokens' },
      choices: 1,
    });
    expect(readConversation('speech', { ...SPEECH, stream_format: 'sse' })).toMatchObject({ streamed: true });
  });

  it('is limited for embeddings by the number of texts, not by the tokens in one', () => {
    const asked = (input: unknown[]) => () => readConversation('embeddings', { model: 'm', input });
    const tokens = Array.from({ length: MAX_EMBEDDED + 1 }, () => 1);
    expect(asked(tokens)().choices).toBe(1);
    const tooMany = expect.objectContaining({ code: 'invalid_value', param: 'input' });
    expect(asked(tokens.map(String))).toThrow(tooMany);
    expect(asked([1, ...tokens.map(String)])).toThrow(tooMany);
  });

  it('treats null as absent', () => {
    const body = { ...CHAT, max_tokens: null, stream: null, stream_options: null, n: null, tools: null };
    expect(readConversation('chat', body)).toMatchObject({ streamed: false, wantsUsage: false, choices: 1 });
  });

  it('knows whether the client wants the usage chunk', () => {
    const options = (stream_options: object) =>
      readConversation('chat', { ...CHAT, stream: true, stream_options });
    expect(options({ include_usage: true }).wantsUsage).toBe(true);
    expect(options({ include_usage: false }).wantsUsage).toBe(false);
  });

  it('keeps known fields unchanged, without default words and empty fields', () => {
    const body = { ...CHAT, temperature: 0.5, seed: 7, metadata: { a: '1' } };
    const more = { ...body, service_tier: 'auto', search_parameters: null };
    expect(readConversation('chat', more).body).toEqual(body);
    const message = { ...MESSAGE, service_tier: 'standard_only', speed: 'standard', inference_geo: 'global' };
    expect(readConversation('messages', message).body).toEqual(MESSAGE);
    expect(readConversation('speech', { ...SPEECH, speed: 1.5 }).body).toEqual({ ...SPEECH, speed: 1.5 });
  });
});

describe('a conversation is refused', () => {
  it.each<[WrittenKind, object, string, string | null]>([
    ['chat', { model: 'm' }, 'missing_required_parameter', 'messages'],
    ['chat', { ...CHAT, messages: [] }, 'missing_required_parameter', 'messages'],
    ['chat', { ...CHAT, messages: 'hi' }, 'invalid_type', 'messages'],
    ['chat', { ...CHAT, max_tokens: '5' }, 'invalid_type', 'max_tokens'],
    ['chat', { ...CHAT, max_tokens: 0 }, 'invalid_value', 'max_tokens'],
    ['chat', { ...CHAT, max_completion_tokens: 1.5 }, 'invalid_value', 'max_completion_tokens'],
    ['chat', { ...CHAT, max_completion_tokens: 1e12 }, 'invalid_value', 'max_completion_tokens'],
    ['chat', { ...CHAT, n: 0 }, 'invalid_value', 'n'],
    ['chat', { ...CHAT, n: 129 }, 'invalid_value', 'n'],
    ['chat', { ...CHAT, stream: 'true' }, 'invalid_type', 'stream'],
    ['chat', { ...CHAT, stream_options: [] }, 'invalid_type', 'stream_options'],
    ['chat', { ...CHAT, service_tier: 'priority' }, 'invalid_value', 'service_tier'],
    ['messages', { ...MESSAGE, speed: 'fast' }, 'invalid_value', 'speed'],
    ['messages', { ...MESSAGE, inference_geo: 'us' }, 'invalid_value', 'inference_geo'],
    ['responses', { model: 'm' }, 'missing_required_parameter', 'input'],
    ['responses', { ...RESPONSE, background: true }, 'invalid_value', 'background'],
    ['responses', { ...RESPONSE, tools: [{ type: 'web_search_preview' }] }, 'invalid_value', 'tools'],
    ['responses', { ...RESPONSE, max_output_tokens: -1 }, 'invalid_value', 'max_output_tokens'],
    ['messages', CHAT, 'missing_required_parameter', 'max_tokens'],
    ['messages', { ...MESSAGE, tools: [{ type: 'web_search_20250305' }] }, 'invalid_value', 'tools'],
    ['speech', { ...SPEECH, input: '' }, 'missing_required_parameter', 'input'],
    ['speech', { ...SPEECH, input: 'x'.repeat(4_097) }, 'invalid_value', 'input'],
    ['speech', { model: 'm', input: 'hi' }, 'missing_required_parameter', 'voice'],
    ['speech', { ...SPEECH, stream_format: 'mp3' }, 'invalid_value', 'stream_format'],
  ])('%s %j', (kind, body, code, param) => {
    const refusal = () => readConversation(kind, body as Record<string, unknown>);
    expect(refusal).toThrow(ApiError);
    expect(refusal).toThrow(expect.objectContaining({ code, param }));
  });

  it('but not for tools that the client runs', () => {
    const tools = [{ type: 'function', name: 'f' }, { type: 'custom' }, { type: 'apply_patch' }];
    expect(readConversation('responses', { ...RESPONSE, tools }).kind).toBe('responses');
    const clients = [{ name: 'anthropic' }, { type: 'bash_20250124' }, { type: 'memory_20250818' }];
    expect(readConversation('messages', { ...MESSAGE, tools: clients }).kind).toBe('messages');
  });
});

describe('what no price in the catalog covers is refused by name', () => {
  const chatPart = (part: object) => ({ ...CHAT, messages: [{ role: 'user', content: [part] }] });
  const messagePart = (part: object) => ({ ...MESSAGE, messages: [{ role: 'user', content: [part] }] });
  const tool = (type: string) => ({ tools: [{ type }] });

  it.each<[WrittenKind, object, string, string]>([
    ['chat', { ...CHAT, search_parameters: { mode: 'on' } }, 'unknown_parameter', 'search_parameters'],
    ['chat', { ...CHAT, web_search_options: {} }, 'unknown_parameter', 'web_search_options'],
    ['chat', { ...CHAT, plugins: [{ id: 'web' }] }, 'unknown_parameter', 'plugins'],
    ['chat', { ...CHAT, prediction: { type: 'content' } }, 'unknown_parameter', 'prediction'],
    ['chat', { ...CHAT, audio: { voice: 'alloy' } }, 'unknown_parameter', 'audio'],
    ['chat', { ...CHAT, best_of: 20 }, 'unknown_parameter', 'best_of'],
    ['chat', { ...CHAT, candidateCount: 8 }, 'unknown_parameter', 'candidateCount'],
    ['chat', { ...CHAT, modalities: ['text', 'audio'] }, 'invalid_value', 'modalities'],
    ['chat', { ...CHAT, ...tool('web_search') }, 'invalid_value', 'tools'],
    ['chat', { ...CHAT, tools: [{}] }, 'invalid_value', 'tools'],
    ['chat', chatPart({ type: 'input_audio' }), 'invalid_value', 'messages'],
    ['chat', { ...CHAT, messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'invalid_value', 'messages'],
    ['responses', { ...RESPONSE, n: 2 }, 'unknown_parameter', 'n'],
    ['responses', { ...RESPONSE, context_management: [] }, 'unknown_parameter', 'context_management'],
    ...['code_interpreter', 'file_search', 'computer_use_preview', 'image_generation', 'mcp', 'shell'].map(
      (type): [WrittenKind, object, string, string] => [
        'responses',
        { ...RESPONSE, ...tool(type) },
        'invalid_value',
        'tools',
      ],
    ),
    ['responses', { ...RESPONSE, input: [{ type: 'image_generation_call' }] }, 'invalid_value', 'input'],
    [
      'responses',
      { ...RESPONSE, input: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'invalid_value',
      'input',
    ],
    ['messages', { ...MESSAGE, n: 3 }, 'unknown_parameter', 'n'],
    ['messages', { ...MESSAGE, container: 'c' }, 'unknown_parameter', 'container'],
    ['messages', { ...MESSAGE, mcp_servers: [] }, 'unknown_parameter', 'mcp_servers'],
    ['messages', { ...MESSAGE, ...tool('code_execution_20250825') }, 'invalid_value', 'tools'],
    ['messages', { ...MESSAGE, ...tool('computer_20250124') }, 'invalid_value', 'tools'],
    ['messages', messagePart({ type: 'container_upload' }), 'invalid_value', 'messages'],
    [
      'messages',
      messagePart({ type: 'tool_result', content: [{ type: 'web_search_tool_result' }] }),
      'invalid_value',
      'messages',
    ],
    [
      'messages',
      { ...MESSAGE, context_management: { edits: [{ type: 'compact_20260112' }] } },
      'invalid_value',
      'context_management',
    ],
    ['speech', { ...SPEECH, n: 2 }, 'unknown_parameter', 'n'],
  ])('%s %j', (kind, body, code, param) => {
    expect(() => readConversation(kind, body as Record<string, unknown>)).toThrow(
      expect.objectContaining({ code, param }),
    );
  });

  it('while contents, tools and thinking that are metered as tokens are accepted', () => {
    const blocks = ['text', 'image', 'document', 'thinking', 'tool_use'].map((type) => ({ type }));
    const result = { type: 'tool_result', content: [{ type: 'text', text: 'x' }, { type: 'image' }] };
    const message = {
      ...MESSAGE,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [{ role: 'user', content: [...blocks, result] }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    };
    expect(readConversation('messages', message).body).toEqual(message);
    const chat = { ...chatPart({ type: 'image_url' }), modalities: ['text'], reasoning_effort: 'low' };
    expect(readConversation('chat', chat).body).toEqual(chat);
  });
});

describe('an answer is limited by its model', () => {
  it.each<[WrittenKind, object, object]>([
    ['chat', CHAT, { max_completion_tokens: 100 }],
    ['chat', { ...CHAT, max_tokens: 7 }, { max_tokens: 7 }],
    ['responses', RESPONSE, { max_output_tokens: 100 }],
    ['messages', MESSAGE, { max_tokens: 10 }],
  ])('%s %j', (kind, body, bound) => {
    const asked = readConversation(kind, body as Record<string, unknown>);
    expect(withModelsLimit(asked, { maxOutputTokens: 100 }).body).toEqual({ ...body, ...bound });
    expect(withModelsLimit(asked, {})).toEqual(asked);
  });
});
