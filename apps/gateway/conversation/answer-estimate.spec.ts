import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Body } from '../http/fields.js';
import type { Conversation } from './conversation-request.js';
import { estimateInput } from '#catalog/token-estimate.js';
import { estimateAnswer } from './answer-estimate.js';

const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1_000_000)}` } };
const chat = (...content: unknown[]): Body => ({ model: 'm', messages: [{ role: 'user', content }] });
const most = (body: Body, limits = {}) => estimateInput(body, limits).most;

describe('the input that is held for', () => {
  it('is at least one token per byte of text, in any script', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
        const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        expect(
          most({ messages: texts.map((content) => ({ role: 'user', content })) }),
        ).toBeGreaterThanOrEqual(BigInt(bytes + texts.length * 10));
      }),
    );
  });

  it('counts tools, instructions and everything else that a model may read', () => {
    const text = 'x'.repeat(5_000);
    const tools = [{ type: 'function', function: { name: 'f', parameters: { description: text } } }];
    for (const body of [{ ...chat('a'), tools }, { instructions: text, input: 'a' }, { system: text }]) {
      expect(most(body)).toBeGreaterThan(5_000n);
    }
  });

  it.each<[string, Body]>([
    ['chat', chat(IMAGE, IMAGE)],
    [
      'responses',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', image_url: IMAGE.image_url.url },
              { type: 'input_image', image_url: 'https://example.com/a.png' },
            ],
          },
        ],
      },
    ],
    [
      'messages',
      chat(
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1_000_000) } },
        {
          type: 'tool_result',
          content: [{ type: 'image', source: { type: 'url', url: 'https://example.com' } }],
        },
      ),
    ],
  ])('counts a fixed amount for each image, whatever its bytes: %s', (_name, body) => {
    expect(most(body)).toBeGreaterThan(10_000n);
    expect(most(body)).toBeLessThan(11_000n);
  });

  it('is not fooled by something that looks like an image', () => {
    const text = 'x'.repeat(20_000);
    const schema = { type: 'image_url', image_url: { url: `data:image/png,${text}` } };
    const bodies = [
      { ...chat('a'), tools: [{ type: 'function', function: { parameters: schema } }] },
      chat({ type: 'tool_use', input: schema }),
      chat({ type: 'image_url', image_url: { url: text } }),
      chat({ type: 'text', text: `data:image/png;base64,${text}` }),
    ];
    for (const body of bodies) expect(most(body)).toBeGreaterThan(20_000n);
  });

  it.each<[string, Body]>([
    ['a document', chat({ type: 'document', source: { type: 'base64', data: 'AAAA' } })],
    ['a file', chat({ type: 'file', file: { file_data: 'AAAA' } })],
  ])('is all that the model reads if the body only refers to it: %s', (_name, body) => {
    expect(most(body, { maxInputTokens: 128_000 })).toBe(128_000n);
    expect(most(body)).toBe(200_000n);
  });

  describe('in contents', () => {
    const parts = (...each: unknown[]): Body => ({ contents: [{ role: 'user', parts: each }] });
    const inline = (mimeType: string) => ({ inlineData: { mimeType, data: 'A'.repeat(1_000_000) } });

    it('counts a fixed amount for each image, whatever its bytes, in the results of functions too', () => {
      const result = { functionResponse: { name: 'f', response: {}, parts: [inline('image/jpeg')] } };
      const body = parts(inline('image/png'), { text: 'a' }, result);
      expect(most(body)).toBeGreaterThan(68_000n);
      expect(most(body)).toBeLessThan(69_000n);
    });

    it('is not fooled by something that looks like an image', () => {
      const text = { inlineData: { mimeType: 'image/png', data: 'x'.repeat(20_000) } };
      const bodies = [
        parts({ functionCall: { name: 'f', args: text } }),
        parts({ functionResponse: { name: 'f', response: text } }),
        { ...parts({ text: 'a' }), tools: [{ functionDeclarations: [{ parameters: text }] }] },
        chat(text),
      ];
      for (const body of bodies) expect(most(body)).toBeGreaterThan(20_000n);
    });

    it('is all that the model reads if the body only refers to it', () => {
      const fileData = { mimeType: 'image/png', fileUri: 'https://example.com/a.png' };
      const small = { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } };
      for (const part of [{ fileData }, small])
        expect(most(parts(part), { maxInputTokens: 128_000 })).toBe(128_000n);
    });

    it('counts nothing for a document’s bytes, nor for signatures of thoughts', () => {
      const limits = { maxInputTokens: 128_000 };
      const document = estimateInput(parts(inline('application/PDF'), { text: 'a' }), limits);
      expect(document).toMatchObject({ most: 128_000n, unbounded: true });
      expect(document.counted).toBeLessThan(100n);
      const signed = { text: 'a', thoughtSignature: 'A'.repeat(50_000) };
      const thought = estimateInput(parts(signed), limits);
      expect(thought.most).toBeGreaterThan(50_000n);
      expect(thought.counted).toBeLessThan(100n);
      expect(estimateInput(parts(inline('text/plain')), {}).counted).toBeGreaterThan(250_000n);
    });

    it('counts the text of instructions', () => {
      const systemInstruction = { parts: [{ text: 'x'.repeat(5_000) }] };
      expect(most({ ...parts({ text: 'a' }), systemInstruction })).toBeGreaterThan(5_000n);
    });
  });

  it('is capped by the model’s input limit, if it is known', () => {
    const body = chat('x'.repeat(300_000));
    expect(most(body, { maxInputTokens: 128_000 })).toBe(128_000n);
    expect(most(body)).toBeGreaterThan(300_000n);
  });
});

it('is a quarter of the characters if the upstream reports no usage', () => {
  expect(estimateInput(chat('x'.repeat(4_000)), {}).likely).toBeLessThan(1_030n);
  expect(estimateInput(chat('x'.repeat(4_000)), {}).likely).toBeGreaterThan(1_000n);
  expect(estimateInput(chat('x'.repeat(4_000)), { maxInputTokens: 10 }).likely).toBe(10n);
});

describe('the output that is held for', () => {
  const asked = (maxOutputTokens: number | undefined, choices = 1) =>
    ({
      maxOutputTokens:
        maxOutputTokens === undefined ? undefined : { value: maxOutputTokens, param: 'max_tokens' },
      choices,
      kind: 'chat',
      body: {},
    }) as unknown as Conversation;

  it.each([
    [100, 4096, 100n],
    [10_000, 4096, 4096n],
    [undefined, 4096, 4096n],
    [undefined, undefined, 16_384n],
    [50_000, undefined, 50_000n],
  ])('requested %s, model %s: %s', (wanted, limit, tokens) => {
    const limits = limit === undefined ? {} : { maxOutputTokens: limit };
    expect(estimateAnswer(asked(wanted), limits).most).toBe(tokens);
  });

  it('counts every choice', () => {
    expect(estimateAnswer(asked(100, 3), {}).most).toBe(300n);
  });

  it.each<[string, Body, bigint]>([
    ['a budget', { thinking_budget: 8_000 }, 8_100n],
    ['a budget beyond the model', { enable_thinking: true, thinking_budget: 99_000 }, 32_100n],
    ['no budget', { enable_thinking: true }, 32_100n],
    ['an invalid budget', { thinking_budget: '8000' }, 32_100n],
    ['none of it', { enable_thinking: false, thinking_budget: 8_000 }, 100n],
  ])('counts thoughts, which the limit on the answer leaves out: %s', (_what, body, tokens) => {
    expect(estimateAnswer({ ...asked(100), body }, { maxOutputTokens: 32_000 }).most).toBe(tokens);
  });

  it('counts a requested image in full', () => {
    const drawn = (responseModalities: string[], maxOutputTokens: number) => {
      const body = { generationConfig: { responseModalities } };
      return estimateAnswer({ ...asked(maxOutputTokens, 2), kind: 'contents', body }, {}).most;
    };
    expect(drawn(['Text', 'image'], 1)).toBe(5_200n);
    expect(drawn(['IMAGE'], 3_000)).toBe(6_000n);
    expect(drawn(['TEXT'], 1)).toBe(2n);
  });

  it.each<[string, Body, bigint]>([
    ['no mention of it', {}, 5_200n],
    ['an empty list', { responseModalities: [] }, 5_200n],
    ['null', { responseModalities: null }, 5_200n],
    ['text alone', { responseModalities: ['TEXT'] }, 2n],
  ])('counts an image that a model may make unasked: %s', (_what, generationConfig, tokens) => {
    const held = (kind: 'chat' | 'contents') =>
      estimateAnswer({ ...asked(1, 2), kind, body: { generationConfig } }, {}).most;
    expect([held('contents'), held('chat')]).toEqual([tokens, 2n]);
  });
});

describe('the output of speech', () => {
  const spoken = (input: string) => ({ kind: 'speech', body: { input } }) as unknown as Conversation;

  it('follows the bytes of its text, held for the slowest speed', () => {
    expect(estimateAnswer(spoken('x'.repeat(101)), {})).toMatchObject({ most: 606n, likely: 152n });
    expect(estimateAnswer(spoken('\u4f60\u597d'), {})).toMatchObject({ most: 36n, likely: 9n });
  });

  it('is capped by the limit of the model', () => {
    expect(estimateAnswer(spoken('x'.repeat(100)), { maxOutputTokens: 90 })).toMatchObject({
      most: 90n,
      likely: 90n,
    });
  });
});
