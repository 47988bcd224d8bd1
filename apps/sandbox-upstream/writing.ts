import { once } from 'node:events';
import { VendorRefusal, refusedField } from './answers.js';
import { deliver } from './delivery.js';
import { type Directives, readDirectives, refuseAsOrdered } from './directives.js';
import { type Exchange, holdUntilClientLeaves, pause, type Vendor } from './vendor.js';

/** A text answer, before it is put into the format of a protocol. */
export interface Writing {
  /** One text for each token, all but the first with a leading space. */
  tokens: string[];
  /** All input, including cached. */
  inputTokens: number;
  cachedTokens: number;
  /** Whether it was cut at the client's token limit. */
  isCut: boolean;
  /** False if the prompt requests no usage. */
  isMetered: boolean;
  directives: Directives;
}

/** One event in the format of a protocol. */
export interface ServerEvent {
  event?: string;
  data: object | string;
}

/** How a protocol formats a text answer: whole, or as events in three parts. */
export interface Rendering {
  whole: object;
  head: ServerEvent[];
  token(text: string): ServerEvent;
  tail: ServerEvent[];
  /** A fault in the middle of the stream. */
  fault: ServerEvent;
}

const CHARACTERS_PER_TOKEN = 4;

/** The text of a content field: a text, or a list of parts, some of which have a text. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : ''))
    .join(' ');
}

/** The user's last message. @throws VendorRefusal 400 if there is none */
export function lastPrompt(messages: unknown, param: string): string {
  const said = (Array.isArray(messages) ? messages : [])
    .filter((message: { role?: unknown }) => (message?.role ?? 'user') === 'user')
    .map((message: { content?: unknown }) => contentText(message?.content));
  const prompt = said.at(-1);
  if (prompt) return prompt;
  throw refusedField(param, `The field "${param}" must have a user's text.`, 'missing_required_parameter');
}

export interface WritingOrder {
  prompt: string;
  /** Everything that counts as input. */
  input: string;
  /** The token limit, if the client sets one. */
  maxTokens: unknown;
}

/** The text to answer: the prompt again, or as many tokens of it as requested. The same for the same request. */
export function write({ prompt, input, maxTokens }: WritingOrder): Writing {
  const directives = readDirectives(prompt);
  const words = `You said: ${directives.caption || 'nothing'}`.split(' ');
  const asked = directives.tokens ?? words.length;
  const count = typeof maxTokens === 'number' && maxTokens >= 1 ? Math.min(asked, maxTokens) : asked;
  const tokens = Array.from({ length: count }, (_, index) => {
    const word = words[index % words.length] ?? '';
    return index === 0 ? word : ` ${word}`;
  });
  const inputTokens = Math.ceil(input.length / CHARACTERS_PER_TOKEN);
  return {
    tokens,
    inputTokens,
    cachedTokens: Math.min(directives.cachedTokens ?? 0, inputTokens),
    isCut: count < asked,
    isMetered: !directives.faults.includes('no-usage'),
    directives,
  };
}

/** Answers whole or streamed, or fails as requested. @throws VendorRefusal before the first byte */
export async function answerWriting(
  vendor: Vendor,
  exchange: Exchange,
  work: { writing: Writing; rendering: Rendering; isStreamed: boolean },
): Promise<void> {
  const { faults, workMs } = work.writing.directives;
  refuseAsOrdered(faults);
  vendor.stats.textsBegun += 1;
  await pause(vendor, workMs ?? 0);
  if (faults.includes('accept-then-timeout')) return holdUntilClientLeaves(vendor, exchange.response);
  if (faults.includes('fail-late'))
    throw new VendorRefusal(500, 'generation_failed', 'It failed as ordered.');
  if (work.isStreamed) return stream(vendor, exchange, work);
  if (faults.includes('never-finish')) return holdUntilClientLeaves(vendor, exchange.response);
  const bytes = Buffer.from(JSON.stringify(work.rendering.whole));
  const isBroken = faults.includes('stream-cut') || faults.includes('mid-stream-error');
  const parcelFaults = isBroken ? [...faults, 'truncated' as const] : faults;
  await deliver(vendor, exchange, { bytes, contentType: 'application/json', faults: parcelFaults });
  if (!isBroken) vendor.stats.textsFinished += 1;
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

async function stream(
  vendor: Vendor,
  exchange: Exchange,
  { writing, rendering }: { writing: Writing; rendering: Rendering },
): Promise<void> {
  const { response } = exchange;
  const { faults } = writing.directives;
  if (faults.includes('bad-file')) {
    return deliver(vendor, exchange, { bytes: Buffer.alloc(0), contentType: 'text/html', faults });
  }
  response.writeHead(200, STREAM_HEADERS);
  const pieceMs = faults.includes('slow-bytes') ? vendor.settings.slowMs / writing.tokens.length : 0;
  const middle = Math.ceil(writing.tokens.length / 2);
  await send(response, rendering.head);
  for (const [index, token] of writing.tokens.entries()) {
    const end = index === middle ? endingOf(vendor, response, { faults, rendering }) : null;
    if (end) return end();
    await send(response, [rendering.token(token)]);
    await pause(vendor, pieceMs);
    if (response.destroyed) return void (vendor.stats.textsAbandoned += 1);
  }
  await send(response, rendering.tail);
  response.end();
  vendor.stats.textsFinished += 1;
}

/** How a stream ends in its middle, if that was requested. */
function endingOf(
  vendor: Vendor,
  response: Exchange['response'],
  { faults, rendering }: { faults: readonly string[]; rendering: Rendering },
): (() => Promise<void> | void) | null {
  if (faults.includes('stream-cut') || faults.includes('truncated'))
    return () => void response.write(':\n\n', () => response.destroy());
  if (faults.includes('never-finish')) return () => holdUntilClientLeaves(vendor, response);
  if (!faults.includes('mid-stream-error')) return null;
  return async () => {
    await send(response, [rendering.fault]);
    response.end();
  };
}

/** Writes events, at most as fast as the client reads. */
async function send(response: Exchange['response'], events: ServerEvent[]): Promise<void> {
  const text = events.map(({ event, data }) => {
    const line = typeof data === 'string' ? data : JSON.stringify(data);
    return `${event ? `event: ${event}\n` : ''}data: ${line}\n\n`;
  });
  if (response.destroyed || response.write(text.join(''))) return;
  await Promise.race([once(response, 'drain'), once(response, 'close')]);
}
