import { describe, expect, it } from '@jest/globals';
import type { StreamKind } from '#upstream/outcomes.js';
import { ApiError } from '#platform/errors.js';
import { readConversation } from './conversation-request.js';

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
      maxOutputTokens: 7,
      choices: 2,
    });
    expect(readConversation('responses', { ...RESPONSE, stream: true, max_output_tokens: 9 })).toMatchObject({
      streamed: true,
      maxOutputTokens: 9,
      choices: 1,
    });
    expect(readConversation('messages', { ...MESSAGE, n: 3 })).toMatchObject({
      maxOutputTokens: 10,
      choices: 1,
    });
    expect(readConversation('speech', { ...SPEECH, stream_format: 'sse' })).toMatchObject({ streamed: true });
  });

  it('takes null for absent', () => {
    const body = { ...CHAT, max_tokens: null, stream: null, stream_options: null, n: null, tools: null };
    expect(readConversation('chat', body)).toMatchObject({ streamed: false, wantsUsage: false, choices: 1 });
  });

  it('knows whether the client wants the usage chunk', () => {
    const options = (stream_options: object) =>
      readConversation('chat', { ...CHAT, stream: true, stream_options });
    expect(options({ include_usage: true }).wantsUsage).toBe(true);
    expect(options({ include_usage: false }).wantsUsage).toBe(false);
  });

  it('leaves the other fields as they are, but for those that change the price of the vendor', () => {
    const body = { ...CHAT, temperature: 0.5, seed: 7, service_tier: 'priority', unknown: { a: [1] } };
    const { service_tier: _dropped, ...rest } = body;
    expect(readConversation('chat', body).body).toEqual(rest);
    expect(readConversation('speech', { ...SPEECH, speed: 1.5 }).body).toEqual({ ...SPEECH, speed: 1.5 });
  });
});

describe('a conversation is refused', () => {
  const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown;

  it.each<[StreamKind, object, string, string | null]>([
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
    ['chat', { ...CHAT, web_search_options: {} }, 'invalid_value', 'web_search_options'],
    ['chat', { ...CHAT, extra: deep }, 'invalid_value', null],
    ['responses', { model: 'm' }, 'missing_required_parameter', 'input'],
    ['responses', { ...RESPONSE, background: true }, 'invalid_value', 'background'],
    ['responses', { ...RESPONSE, tools: [{ type: 'web_search_preview' }] }, 'invalid_value', 'tools'],
    ['responses', { ...RESPONSE, max_output_tokens: -1 }, 'invalid_value', 'max_output_tokens'],
    ['messages', CHAT, 'missing_required_parameter', 'max_tokens'],
    ['messages', { ...MESSAGE, tools: [{ type: 'web_search_20250305' }] }, 'invalid_value', 'tools'],
    ['messages', { ...MESSAGE, mcp_servers: [] }, 'invalid_value', 'mcp_servers'],
    ['speech', { ...SPEECH, input: '' }, 'missing_required_parameter', 'input'],
    ['speech', { ...SPEECH, input: 'x'.repeat(4_097) }, 'invalid_value', 'input'],
    ['speech', { model: 'm', input: 'hi' }, 'missing_required_parameter', 'voice'],
    ['speech', { ...SPEECH, stream_format: 'mp3' }, 'invalid_value', 'stream_format'],
  ])('%s %j', (kind, body, code, param) => {
    const refusal = () => readConversation(kind, body as Record<string, unknown>);
    expect(refusal).toThrow(ApiError);
    expect(refusal).toThrow(expect.objectContaining({ code, param }));
  });

  it('but not for a stored prompt or an earlier answer as its only input', () => {
    for (const extra of [{ previous_response_id: 'resp_1' }, { prompt: { id: 'p' } }]) {
      expect(readConversation('responses', { model: 'm', ...extra }).kind).toBe('responses');
    }
    const tools = [{ type: 'function', name: 'f' }, { type: 'custom' }, { name: 'anthropic' }];
    expect(readConversation('responses', { ...RESPONSE, tools }).kind).toBe('responses');
  });
});
