import type { Readable } from 'node:stream';
import type { StreamAnswer, StreamKind } from '#upstream/outcomes.js';
import type { UsageMeter } from '#upstream/usage-meter.js';
import type { ClientStream } from './client-stream.js';
import { type Conversation, isOfImages } from './conversation-request.js';
import { DrainedBytes, DrainTooLong } from './drains.js';
import { EventFilter, type Passage } from './event-filter.js';
import { transcriptText } from '../transcriptions/transcript-text.js';
import { withModel } from './model-name.js';

/** How an answer ended, before the client learns of it. */
export type Ending =
  /** Complete. `last` has not been sent to the client yet: the last event, or all of an answer that is not streamed. */
  | { how: 'whole'; last: Buffer | null; contentType: string }
  /** The client has left, or did not read within the time limit, and the upstream call was stopped. */
  | { how: 'left' }
  /** `passed`: the number of events sent before. */
  | { how: 'broken'; reason: string; passed: number };

export interface AnswerRelayOptions extends Conversation {
  meter: UsageMeter;
  client: ClientStream;
  stop: AbortSignal;
  /** The client's name of the model if the upstream's differs, or null. */
  clientsModel: string | null;
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** The whole of an answer that is not streamed: a long text, or sounds and images inside JSON. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** A stream can stay open for a moment after its last event. Waiting for its end keeps the connection for the next call. */
const DRAIN_MS = 1_000;
/** Some vendors' proxies report errors under the requested media type. */
const WEB_PAGE = /^\s*<(!doctype|html)\b/i;
const FIRST_BYTES = 64;

/** The fields that make a JSON object an answer. Without them it may be an error in another format. */
const ANSWER_FIELDS: Record<StreamKind, readonly string[]> = {
  chat: ['choices'],
  responses: ['output'],
  messages: ['content'],
  contents: ['candidates', 'promptFeedback'],
  speech: [],
  embeddings: ['data'],
  transcription: ['text'],
  translation: ['text'],
  imageStream: ['data'],
  editStream: ['data'],
};

/** Passes an upstream's answer on to the client, except for its end. Never throws because of either of them. */
export async function relayAnswer(answer: StreamAnswer, options: AnswerRelayOptions): Promise<Ending> {
  const progress = { passed: 0 };
  try {
    return await chooseRelay(options)(answer, options, progress);
  } catch (error) {
    answer.body.destroy();
    if (isLeft(error, options)) return { how: 'left' };
    const reason = error instanceof Error ? error.message : String(error);
    return { how: 'broken', reason, passed: progress.passed };
  }
}

/** An answer that breaks while it is read to its end for a client that left counts as broken. */
function isLeft(error: unknown, { client, stop }: AnswerRelayOptions): boolean {
  if (error instanceof DrainTooLong) return true;
  return stop.aborted && (client.left.aborted || client.isBehind);
}

type Relay = (
  answer: StreamAnswer,
  options: AnswerRelayOptions,
  progress: { passed: number },
) => Promise<Ending>;

function chooseRelay({ streamed, kind }: Conversation): Relay {
  if (streamed) return relayEvents;
  return kind === 'speech' ? relaySound : relayWhole;
}

async function relayEvents(
  { contentType, body }: StreamAnswer,
  options: AnswerRelayOptions,
  progress: { passed: number },
): Promise<Ending> {
  if (!/^text\/event-stream\b/i.test(contentType)) throw new Error('the upstream sent no event stream');
  const filter = new EventFilter(options.kind, options.meter, options);
  try {
    return await passEvents(body, filter, { ...options, progress });
  } catch (error) {
    const last = filter.kept;
    if (last === null || options.client.left.aborted || isLeft(error, options)) throw error;
    // The answer has given its reason to end. Only the end of its stream is missing.
    body.destroy();
    return { how: 'whole', last, contentType: EVENT_STREAM };
  }
}

async function passEvents(
  body: Readable,
  filter: EventFilter,
  { client, stop, progress, kind, meter }: AnswerRelayOptions & { progress: { passed: number } },
): Promise<Ending> {
  // The body outlives the loop, so that its connection can be kept.
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const drained = new DrainedBytes(client.left, isOfImages(kind));
  // It has seen its image before it is whole. If it could hold up the rest until the time is over, it would not pay for it.
  if (isOfImages(kind)) client.breakIfStalled();
  for await (const chunk of chunks) {
    drained.add(chunk);
    // Nothing is written after it, so nothing may be read either: what is kept would follow a gap.
    if (stop.aborted) throw new Error('the time was over');
    const { pass, end, last } = filter.push(chunk);
    progress.passed = filter.passed;
    await client.write(pass, EVENT_STREAM, stop);
    if (stop.aborted) throw new Error('the time was over');
    if (end === 'open') continue;
    refuseFailed(end);
    if (isOfImages(kind) && meter.answers === 0) throw new Error('the stream ended without its image');
    drain(body);
    return { how: 'whole', last, contentType: EVENT_STREAM };
  }
  const { pass, end, last } = filter.close();
  progress.passed = filter.passed;
  await client.write(pass, EVENT_STREAM, stop);
  if (end !== 'done') throw new Error('the stream ended before its last event');
  return { how: 'whole', last, contentType: EVENT_STREAM };
}

function refuseFailed(end: Exclude<Passage['end'], 'open'>): void {
  if (end === 'failed') throw new Error('the upstream sent an error event');
  if (end === 'too-long') throw new Error('the upstream sent an event too long to be counted');
}

function drain(body: Readable): void {
  const patience = setTimeout(() => body.destroy(), DRAIN_MS).unref();
  body.once('close', () => clearTimeout(patience)).resume();
}

async function relaySound({ contentType, body }: StreamAnswer, options: AnswerRelayOptions): Promise<Ending> {
  const { client, stop } = options;
  if (/^(application\/json|text\/html)\b/i.test(contentType)) throw new Error('the upstream sent no sound');
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(contentType)?.[0] ?? 'application/octet-stream';
  const drained = new DrainedBytes(client.left);
  let isEmpty = true;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    drained.add(chunk);
    if (isEmpty && WEB_PAGE.test(chunk.toString('latin1', 0, FIRST_BYTES))) {
      throw new Error('the upstream sent a web page');
    }
    isEmpty &&= chunk.length === 0;
    await client.write(chunk, type, stop);
    if (stop.aborted) throw new Error('the time was over');
  }
  if (isEmpty) throw new Error('the upstream sent an empty sound');
  return { how: 'whole', last: null, contentType: type };
}

async function relayWhole(
  { body }: StreamAnswer,
  { meter, kind, clientsModel, writtenAs }: AnswerRelayOptions,
): Promise<Ending> {
  const bytes = await readWhole(body);
  meter.addAnswer(bytes);
  const answer =
    meter.end === 'complete' ? (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>) : null;
  if (answer === null) throw new Error('the upstream sent no JSON object');
  // Some vendors answer 200 to work that failed.
  if (answer['error'] || (kind === 'responses' && answer['status'] === 'failed')) {
    throw new Error('the upstream answered with an error');
  }
  if (!ANSWER_FIELDS[kind].some((field) => field in answer)) throw new Error('the upstream sent no answer');
  if (writtenAs) {
    const text = Buffer.from(transcriptText(answer, writtenAs));
    return { how: 'whole', last: text, contentType: TEXT_TYPE };
  }
  const last = clientsModel === null ? bytes : withModel(bytes, clientsModel);
  return { how: 'whole', last, contentType: JSON_TYPE };
}

async function readWhole(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
