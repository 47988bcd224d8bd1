import { describe, expect, it } from 'vitest';
import { ApiError } from '#platform/errors.js';
import type { Body } from '../http/fields.js';
import { readConversation, withModelsLimit } from '../conversation/conversation-request.js';
import { contentsBody, countedBody } from './contents-body.js';

const CONTENTS = [{ role: 'user', parts: [{ text: 'hi' }] }];
const path = { model: 'm', stream: false };
const bodyOf = (sent: unknown) => contentsBody(sent, path);
const read = (sent: Body) => readConversation('contents', bodyOf(sent));
/** Rewriting such a name takes ten seconds, and looking at it a twentieth of one. */
const MAX_LOOK_MICROSECONDS = 2_000_000;
const withParts = (parts: object[]) => ({ contents: [{ parts }] });
const withPart = (part: object) => withParts([part]);

describe('contents', () => {
  it('have one form, whatever case they were sent in, with entries in lists', () => {
    const sent = {
      contents: { parts: { inline_data: { mime_type: 'image/png', data: 'AA' } } },
      system_instruction: { parts: { text: 'Be brief.' } },
      tools: { function_declarations: [{ name: 'a_b' }] },
      tool_config: { function_calling_config: { mode: 'ANY' } },
      generation_config: { max_output_tokens: 9, top_p: 0.5 },
      dry_run: true,
    };
    expect(bodyOf(sent)).toEqual({
      model: 'm',
      stream: false,
      contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'a_b' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: { maxOutputTokens: 9, topP: 0.5 },
      dry_run: true,
    });
  });

  it('take no time for a name of many megabytes', () => {
    const name = '_a'.repeat(20_000_000);
    const begun = process.cpuUsage();
    expect(Object.keys(bodyOf({ [name]: 1, contents: CONTENTS }))).toContain(name);
    expect(process.cpuUsage(begun).user).toBeLessThan(MAX_LOOK_MICROSECONDS);
  });

  it.each([
    ['contents', (many: object[]) => ({ contents: many })],
    ['parts', (many: object[]) => withParts(many)],
    [
      'parts of several contents',
      (many: object[]) => ({ contents: [{ parts: many.slice(1) }, { parts: many }] }),
    ],
    ['parts of a result', (many: object[]) => withPart({ functionResponse: { parts: many } })],
    ['parts of the instruction', (many: object[]) => ({ system_instruction: { parts: many } })],
  ])('are refused for too many %s before these are looked at', (_what, bodyWith) => {
    let looked = 0;
    const part = new Proxy({}, { ownKeys: () => ((looked += 1), []) });
    const body = bodyWith(Array.from({ length: 10_001 }, () => part));
    expect(() => bodyOf(body)).toThrow(expect.objectContaining({ code: 'invalid_value', param: 'contents' }));
    expect(looked).toBeLessThan(10_001);
  });

  it('leave the client’s own names unchanged', () => {
    const call = { functionCall: { name: 'f', args: { inline_data: { mime_type: 'x' } } } };
    expect(bodyOf(withPart(call))).toMatchObject(withPart(call));
  });

  it('cannot contradict their path', () => {
    for (const model of ['m', 'models/m', null])
      expect(bodyOf({ model, contents: CONTENTS }).model).toBe('m');
    expect(() => bodyOf({ model: 'other' })).toThrow(expect.objectContaining({ param: 'model' }));
    expect(() => bodyOf({ stream: true })).toThrow(expect.objectContaining({ code: 'unknown_parameter' }));
  });

  it('are counted alone, or as the whole of a request', () => {
    expect(countedBody({ contents: CONTENTS }, 'm')).toEqual({ ...path, contents: CONTENTS });
    const generateContentRequest = { model: 'models/m', contents: CONTENTS, tools: [] };
    expect(countedBody({ generateContentRequest }, 'm')).toEqual({ ...path, contents: CONTENTS, tools: [] });
    expect(() => countedBody({ generateContentRequest, contents: CONTENTS }, 'm')).toThrow(
      expect.objectContaining({ code: 'unknown_parameter', param: 'contents' }),
    );
  });
});

describe('what billing depends on', () => {
  it('is read from the configuration, where the model’s own limit is written too', () => {
    const asked = read({ contents: CONTENTS, generationConfig: { maxOutputTokens: 9, candidateCount: 2 } });
    expect(asked).toMatchObject({
      kind: 'contents',
      streamed: false,
      choices: 2,
      maxOutputTokens: { value: 9, param: 'generationConfig.maxOutputTokens' },
    });
    const open = read({ contents: CONTENTS, generationConfig: { seed: 1 } });
    expect(withModelsLimit(open, { maxOutputTokens: 70 }).body).toMatchObject({
      generationConfig: { seed: 1, maxOutputTokens: 70 },
    });
    expect(withModelsLimit(asked, { maxOutputTokens: 70 })).toBe(asked);
    expect(
      readConversation('contents', contentsBody({ contents: CONTENTS }, { model: 'm', stream: true })),
    ).toMatchObject({ streamed: true, choices: 1, maxOutputTokens: undefined });
  });

  it('allows what is metered as tokens', () => {
    const parts = [
      { text: 'a', thought: true, thoughtSignature: 'AA' },
      { inlineData: { mimeType: 'application/pdf', data: 'AA' } },
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
      { fileData: { mimeType: 'image/png', fileUri: 'https://storage.googleapis.com/bucket/a.png' } },
      { fileData: { mimeType: 'image/png', fileUri: 'https://notyoutube.com:8443?a' } },
      { functionCall: { name: 'f', args: {} } },
      { functionResponse: { name: 'f', response: {} } },
    ];
    const body = {
      contents: [{ role: 'user', parts }],
      tools: [{ functionDeclarations: [] }],
      generationConfig: { responseModalities: ['TEXT', 'image'], thinkingConfig: { thinkingBudget: 9 } },
    };
    expect(read({ ...body, serviceTier: 'standard' }).body).toEqual({ ...body, ...path });
  });
});

describe('contents are refused by field', () => {
  const media = (mimeType: unknown) => withPart({ inlineData: { mimeType, data: 'AA' } });
  const file = (fileUri: unknown, mimeType: unknown = 'image/png') =>
    withPart({ fileData: { mimeType, fileUri } });
  const PART = 'contents[0].parts[0]';

  it.each<[Body, string, string]>([
    [{}, 'missing_required_parameter', 'contents'],
    [{ contents: [] }, 'missing_required_parameter', 'contents'],
    [{ contents: 'hi' }, 'invalid_type', 'contents[0]'],
    [{ contents: [[]] }, 'invalid_type', 'contents[0]'],
    [{ contents: [{ parts: ['hi'] }] }, 'invalid_type', PART],
    [{ contents: [{ parts: CONTENTS[0]!.parts, videos: [] }] }, 'unknown_parameter', 'contents[0].videos'],
    [
      withPart({ functionCall: { name: 'f', inlineData: { mimeType: 'image/png', data: 'AA' } } }),
      'unknown_parameter',
      `${PART}.functionCall.inlineData`,
    ],
    [withPart({ videoMetadata: {} }), 'unknown_parameter', `${PART}.videoMetadata`],
    [withPart({ executableCode: {} }), 'unknown_parameter', `${PART}.executableCode`],
    [withPart({ inlineData: 'AA' }), 'invalid_type', `${PART}.inlineData`],
    [media('audio/wav'), 'invalid_value', `${PART}.inlineData.mimeType`],
    [media('VIDEO/mp4'), 'invalid_value', `${PART}.inlineData.mimeType`],
    [media(undefined), 'invalid_value', `${PART}.inlineData.mimeType`],
    [file('https://example.com/film', 'video/mp4'), 'invalid_value', `${PART}.fileData.mimeType`],
    [file('https://example.com/film', null), 'invalid_value', `${PART}.fileData.mimeType`],
    [file('gs://bucket/a.png'), 'invalid_value', `${PART}.fileData.fileUri`],
    [file(7), 'invalid_value', `${PART}.fileData.fileUri`],
    ...[
      'https://generativelanguage.googleapis.com/v1beta/files/abc',
      'https://GenerativeLanguage.GoogleAPIs.com.:443/v1beta/files/abc',
      'https://googleapis.com',
      'https://generativelanguage%2egoogleapis.com/v1beta/files/abc',
      'https://example.com\\@generativelanguage.googleapis.com/v1beta/files/abc',
      'https://storage.googleapis.com@generativelanguage.googleapis.com/v1beta/files/abc',
      'https://www.youtube.com/watch?v=x',
      'https://youtube.com/watch?v=x',
      'https://youtu.be/x',
    ].map((address): [Body, string, string] => [file(address), 'invalid_value', `${PART}.fileData.fileUri`]),
    [
      withPart({ functionResponse: { parts: [{ inlineData: { mimeType: 'audio/wav' } }] } }),
      'invalid_value',
      `${PART}.functionResponse.parts[0].inlineData.mimeType`,
    ],
    [{ contents: CONTENTS, cachedContent: 'cachedContents/x' }, 'unknown_parameter', 'cachedContent'],
    [{ contents: CONTENTS, tools: [{ googleSearch: {} }] }, 'invalid_value', 'tools'],
    [{ contents: CONTENTS, tools: [{ code_execution: {} }] }, 'invalid_value', 'tools'],
    [
      { contents: CONTENTS, toolConfig: { retrievalConfig: {} } },
      'unknown_parameter',
      'toolConfig.retrievalConfig',
    ],
    [{ contents: CONTENTS, serviceTier: 'priority' }, 'invalid_value', 'serviceTier'],
    [{ contents: CONTENTS, systemInstruction: 'Be brief.' }, 'invalid_type', 'systemInstruction'],
    [
      { contents: CONTENTS, systemInstruction: { parts: [{ inlineData: { mimeType: 'image/png' } }] } },
      'invalid_value',
      'systemInstruction.parts[0]',
    ],
    ...[
      [{ speechConfig: {} }, 'unknown_parameter', 'speechConfig'] as const,
      [{ responseModalities: ['AUDIO'] }, 'invalid_value', 'responseModalities'] as const,
      [{ responseModalities: 'TEXT' }, 'invalid_value', 'responseModalities'] as const,
      [{ maxOutputTokens: '9' }, 'invalid_type', 'maxOutputTokens'] as const,
      [{ maxOutputTokens: 0 }, 'invalid_value', 'maxOutputTokens'] as const,
      [{ candidateCount: 129 }, 'invalid_value', 'candidateCount'] as const,
    ].map(([generationConfig, code, name]): [Body, string, string] => [
      { contents: CONTENTS, generationConfig },
      code,
      `generationConfig.${name}`,
    ]),
  ])('%j', (sent, code, param) => {
    expect(() => read(sent)).toThrow(ApiError);
    expect(() => read(sent)).toThrow(expect.objectContaining({ code, param }));
  });
});
