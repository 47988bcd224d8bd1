import { createHash } from 'node:crypto';
import { readJsonBody, VendorRefusal, refusedField } from './answers.js';
import { deliver } from './delivery.js';
import { readDirectives, refuseAsOrdered } from './directives.js';
import { type Exchange, holdUntilClientLeaves, pause, requiredTextField, type Vendor } from './vendor.js';

const CHARACTERS_PER_TOKEN = 4;
const DIMENSIONS = 64;
const MOST_DIMENSIONS = 4_096;

/** `POST /v1/embeddings`. The same text has the same vector. The first text can request faults. */
export async function embed(vendor: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const model = requiredTextField(body, 'model');
  const texts = textsOf(body['input']);
  const dimensions = dimensionsOf(body['dimensions']);
  const { faults, workMs } = readDirectives(texts[0] ?? '');
  refuseAsOrdered(faults);
  vendor.stats.textsBegun += 1;
  await pause(vendor, workMs ?? 0);
  const isUnanswered = faults.includes('accept-then-timeout') || faults.includes('never-finish');
  if (isUnanswered) return holdUntilClientLeaves(vendor, exchange.response);
  if (faults.includes('fail-late'))
    throw new VendorRefusal(500, 'generation_failed', 'It failed as ordered.');
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / CHARACTERS_PER_TOKEN), 0);
  const isBase64 = body['encoding_format'] === 'base64';
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, dimensions);
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const usage = faults.includes('no-usage') ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  const bytes = Buffer.from(JSON.stringify({ object: 'list', data, model, ...usage }));
  await deliver(vendor, exchange, { bytes, contentType: 'application/json', faults });
  vendor.stats.textsFinished += 1;
}

/** A list of numbers is one text, as tokens. */
function textsOf(input: unknown): string[] {
  const list = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const texts = list.map((each: unknown) => (Array.isArray(each) ? each.join(' ') : each));
  if (texts.length > 0 && texts.every((each): each is string => typeof each === 'string' && each !== '')) {
    return texts;
  }
  throw refusedField('input', 'input must be texts or tokens.', 'invalid_type');
}

function dimensionsOf(sent: unknown): number {
  const dimensions = Number(sent ?? DIMENSIONS);
  if (Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= MOST_DIMENSIONS) return dimensions;
  throw refusedField('dimensions', `dimensions must be from 1 to ${MOST_DIMENSIONS}.`, 'invalid_value');
}

/** Numbers from -1 to 1, derived from the text. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let seed = createHash('sha256').update(text).digest();
  for (let at = 0; at < dimensions; at += 1) {
    const place = (at * 2) % seed.length;
    if (at > 0 && place === 0) seed = createHash('sha256').update(seed).digest();
    vector[at] = seed.readInt16LE(place) / 32_768;
  }
  return vector;
}
