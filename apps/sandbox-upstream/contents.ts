import { readJsonBody, sendJson, VendorRefusal } from './answers.js';
import { refuseAsOrdered } from './directives.js';
import { instantPng } from './images.js';
import type { Exchange, Vendor } from './vendor.js';
import { answerWriting, contentText, lastPrompt, type Rendering, write, type Writing } from './writing.js';

type Json = Record<string, unknown>;

/** `POST /v1beta/models/{model}:generateContent`. */
export async function generateContent(vendor: Vendor, exchange: Exchange, model: string): Promise<void> {
  await answer(vendor, exchange, { model, isStreamed: false });
}

/** `POST /v1beta/models/{model}:streamGenerateContent`, as events only. */
export async function streamGenerateContent(
  vendor: Vendor,
  exchange: Exchange,
  model: string,
): Promise<void> {
  const query = new URLSearchParams(exchange.request.url?.split('?')[1]);
  if (query.get('alt') !== 'sse') throw new VendorRefusal(400, 'invalid_argument', 'alt must be sse.');
  await answer(vendor, exchange, { model, isStreamed: true });
}

/** `POST /v1beta/models/{model}:countTokens`, of contents or of a whole request. */
export async function countTokens(_: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const whole = (body['generateContentRequest'] ?? body) as Json;
  refuseUnknown(whole, ['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']);
  const { directives, inputTokens } = write(orderOf(whole));
  refuseAsOrdered(directives.faults);
  sendJson(exchange.response, 200, { totalTokens: inputTokens });
}

async function answer(
  vendor: Vendor,
  exchange: Exchange,
  { model, isStreamed }: { model: string; isStreamed: boolean },
): Promise<void> {
  const body = await readJsonBody(exchange.request);
  refuseUnknown(body, FIELDS);
  const writing = write(orderOf(body));
  const { thinkingConfig, responseModalities } = configOf(body);
  const thoughts = Number((thinkingConfig as Json | undefined)?.['thinkingBudget'] ?? 0);
  const isDrawn = Array.isArray(responseModalities) && responseModalities.includes('IMAGE');
  const rendering = render(writing, { model, thoughts, isDrawn });
  await answerWriting(vendor, exchange, { writing, rendering, isStreamed });
}

const FIELDS = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'generationConfig'];

function refuseUnknown(body: Json, known: readonly string[]): void {
  const other = Object.keys(body).find((name) => !known.includes(name));
  if (other !== undefined)
    throw new VendorRefusal(400, 'invalid_argument', `Unknown name "${other}": Cannot find field.`);
}

function configOf(body: Json): Json {
  return (body['generationConfig'] ?? {}) as Json;
}

function orderOf(body: Json) {
  const contents = Array.isArray(body['contents']) ? (body['contents'] as Json[]) : [];
  const turns = contents.map(({ role, parts }) => ({ role, content: parts }));
  const prompt = lastPrompt(turns, 'contents');
  const instruction = contentText((body['systemInstruction'] as Json | undefined)?.['parts']);
  const input = instruction + turns.map(({ content }) => contentText(content)).join('\n');
  return { prompt, input, maxTokens: configOf(body)['maxOutputTokens'] };
}

/** Every event has the usage so far, like the vendor's. Zeros are omitted. */
function render(
  writing: Writing,
  { model, thoughts, isDrawn }: { model: string; thoughts: number; isDrawn: boolean },
): Rendering {
  const { tokens, isMetered } = writing;
  const usage = (output: number) => isMetered && { usageMetadata: usageOf(writing, { thoughts, output }) };
  const drawing = { inlineData: { mimeType: 'image/png', data: instantPng.toString('base64') } };
  const finishReason = writing.isCut ? 'MAX_TOKENS' : 'STOP';
  let written = 0;
  const piece = (parts: object[], more: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, ...more, index: 0 }],
    ...usage(written),
    modelVersion: model,
  });
  return {
    whole: {
      ...piece([{ text: tokens.join('') }, ...(isDrawn ? [drawing] : [])], { finishReason }),
      ...usage(tokens.length),
    },
    head: [],
    token: (text) => {
      written += 1;
      return { data: piece([{ text }]) };
    },
    get tail() {
      return [{ data: piece(isDrawn ? [drawing] : [{ text: '' }], { finishReason }) }];
    },
    fault: { data: { error: { code: 503, message: 'It broke as ordered.', status: 'UNAVAILABLE' } } },
  };
}

function usageOf(
  { inputTokens, cachedTokens }: Writing,
  { thoughts, output }: { thoughts: number; output: number },
) {
  return {
    promptTokenCount: inputTokens,
    ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
    ...(output > 0 && { candidatesTokenCount: output }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: inputTokens + thoughts + output,
  };
}
