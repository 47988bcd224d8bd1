import type { CountedKind, StreamAnswer, StreamKind, StreamOutcome } from '#upstream/outcomes.js';
import { SseSplitter } from '#upstream/sse-splitter.js';
import { UsageMeter } from '#upstream/usage-meter.js';
import { type Bench, bytesOf, type CaseOf, fileText, promptOf } from './bench.fixture.js';
import { failureText } from './outcome-text.fixture.js';

/** The requested answer, unless a fault changes it. */
const LENGTHS: Record<string, string> = {
  nothing: '[[tokens:50]] [[cached:3]]',
  whole: '[[tokens:20]]',
  leave: '[[tokens:500]] [[fault:slow-bytes]]',
  drop: '[[tokens:500]] [[fault:slow-bytes]]',
};

function textOf(each: CaseOf): string {
  return `${promptOf(each)} ${LENGTHS[each.happens] ?? '[[tokens:40]]'}`;
}

/** The lowest honest count by text of forty tokens, and of twenty. */
const LEAST = { whole: 30n, half: 15n };

/** A conversation, streamed unless the case says otherwise, and metered for billing. */
export async function conversationCase(bench: Bench, each: CaseOf): Promise<string> {
  const left = new AbortController();
  const abandonedBefore = await bench.statistic('textsAbandoned');
  const signal = AbortSignal.any([left.signal, await bench.signal(each)]);
  const outcome = await open(bench, each, { signal, stream: each.happens !== 'whole' });
  if (outcome.kind !== 'answer') return refusalText(bench, each, outcome);
  if (each.happens === 'leave' || each.happens === 'drop') {
    return givenUp(bench, outcome, { left: each.happens === 'leave' ? left : null, abandonedBefore });
  }
  const meter = new UsageMeter(each.operation as StreamKind);
  if (each.happens === 'whole') {
    meter.addAnswer(await bytesOf(outcome.body));
    return `${meter.reported()?.output} tokens reported`;
  }
  const [type = ''] = outcome.contentType.split(';');
  if (type !== 'text/event-stream') {
    outcome.body.destroy();
    return `${type} for a stream`;
  }
  return meterText(each, meter, await isBroken(outcome, meter));
}

/** Audio, transcripts or vectors, passed on as they arrive. */
export async function answerCase(bench: Bench, each: CaseOf): Promise<string> {
  const outcome = await open(bench, each, { signal: await bench.signal(each), stream: false });
  if (outcome.kind !== 'answer') return refusalText(bench, each, outcome);
  const type = each.operation === 'speech' ? 'audio/wav' : 'application/json';
  const read = await fileText(async () => {
    const bytes = await bytesOf(outcome.body);
    return isAnswer(each.operation, bytes) && outcome.contentType.startsWith(type)
      ? 'answered'
      : 'another answer';
  });
  return read === 'not downloadable' ? 'broken off' : read;
}

function isAnswer(operation: CaseOf['operation'], bytes: Buffer): boolean {
  if (operation === 'speech') return bytes.toString('latin1', 0, 4) === 'RIFF';
  const { data, text } = JSON.parse(bytes.toString()) as { data?: unknown; text?: unknown };
  return operation === 'embeddings' ? Array.isArray(data) : typeof text === 'string';
}

/** Counts the tokens of the input, without an answer. */
export async function countCase(bench: Bench, each: CaseOf): Promise<string> {
  const kind = each.operation.replace(/Count$/, '') as CountedKind;
  const request = { kind, model: bench.model(each), body: bodyOf(kind, promptOf(each), {}) };
  const signal = await bench.signal(each);
  const outcome = await bench.adapter(each).countTokens(bench.channel(each), request, signal);
  if (outcome.kind !== 'counted') return failureText(outcome);
  return outcome.tokens > 0 ? 'counted' : 'counted nothing';
}

function refusalText(bench: Bench, each: CaseOf, outcome: Exclude<StreamOutcome, StreamAnswer>): string {
  return failureText(outcome) + (each.happens === 'two-keys' ? bench.keyText(each) : '');
}

function open(
  bench: Bench,
  each: CaseOf,
  { signal, stream }: { signal: AbortSignal; stream: boolean },
): Promise<StreamOutcome> {
  const kind = each.operation as StreamKind;
  const model = 'the client’s name';
  const body = bodyOf(kind, textOf(each), {
    model,
    ...(kind !== 'speech' && { stream }),
    ...(kind === 'messages' && { max_tokens: 500 }),
  });
  const file = kind === 'transcription' || kind === 'translation' ? SOUND : undefined;
  const request = { kind, model: bench.model(each), body, file };
  return bench.adapter(each).openStream(bench.channel(each), request, signal);
}

function bodyOf(kind: StreamKind, text: string, more: object): Record<string, unknown> {
  switch (kind) {
    case 'contents':
      return { contents: [{ role: 'user', parts: [{ text }] }], ...more };
    case 'responses':
    case 'embeddings':
      return { input: text, ...more };
    case 'transcription':
    case 'translation':
      return { prompt: text };
    case 'speech':
      return { input: text, voice: 'alloy', response_format: 'wav', ...more };
    default:
      return { messages: [{ role: 'user', content: text }], ...more };
  }
}

const SOUND = { pieces: [Buffer.from('RIFF'), Buffer.alloc(60)], mime: 'audio/wav', name: 'audio.wav' };

/** Reads a stream into a meter. Returns whether it ended with a connection error. */
async function isBroken({ body }: StreamAnswer, meter: UsageMeter): Promise<boolean> {
  const splitter = new SseSplitter();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      for (const event of splitter.push(chunk)) meter.addEvent(event);
    }
  } catch {
    return true;
  }
  return false;
}

function meterText({ operation }: CaseOf, meter: UsageMeter, broken: boolean): string {
  if (meter.end === 'failed') return 'failed on the way';
  // Google's streams have no definite last event.
  const isWhole = operation === 'contents' ? !broken : meter.end === 'complete';
  const end = isWhole ? 'to its end' : 'broken off';
  const reported = meter.reported();
  if (reported && isWhole)
    return `${reported.output} tokens reported, ${reported.cachedInput} cached, ${end}`;
  const { output } = meter.billable({ input: 7n, cachedInput: 0n, output: 0n });
  const isCounted = output > (isWhole ? LEAST.whole : LEAST.half);
  return `${isCounted ? 'counted by its text' : `only ${output} tokens counted`}, ${end}`;
}

/** The client leaves, or the body is destroyed. Either has to reach the vendor. */
async function givenUp(
  bench: Bench,
  { body }: StreamAnswer,
  { left, abandonedBefore }: { left: AbortController | null; abandonedBefore: number },
): Promise<string> {
  if (left) {
    left.abort();
    const isStillOpen = await bytesOf(body).then(
      () => true,
      () => false,
    );
    if (isStillOpen) return 'still open';
  } else body.destroy();
  await bench.sandbox.readUntil('/_sandbox/stats', (stats) => stats['textsAbandoned'] > abandonedBefore);
  return 'cancelled at the vendor';
}
