import type { StreamAnswer, StreamKind } from '#upstream/outcomes.js';
import { JsonSkim, TooMuch } from '#upstream/long/json-skim.js';
import { transcriptText } from '../transcriptions/transcript-text.js';
import type { AnswerRelayOptions, Ending } from './answer-ending.js';

const TEXT_TYPE = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** What is kept of an answer before any of it is passed on, so that what is no answer can still be an error. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Sixty images of 4 MB. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** What makes a JSON object an answer; one without them may be an error in a shape of its own. */
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

/**
 * An answer that is not streamed. A short one is kept until it is paid. A long one, with images inside, passes as it comes,
 * and only its last bytes are kept until then.
 */
export async function relayWhole({ body }: StreamAnswer, options: AnswerRelayOptions): Promise<Ending> {
  const { meter, kind, writtenAs } = options;
  const skim = new JsonSkim(options.clientsModel);
  const last = await passOn(body as AsyncIterable<Buffer>, skim, options);
  const skimmed = skim.skimmed();
  meter.addAnswer(skimmed);
  const answer =
    meter.end === 'complete' ? (JSON.parse(skimmed.toString('utf8')) as Record<string, unknown>) : null;
  if (answer === null) throw new Error('the upstream sent no JSON object');
  // Some vendors answer 200 to work that failed.
  if (answer['error'] || (kind === 'responses' && answer['status'] === 'failed')) {
    throw new Error('the upstream answered with an error');
  }
  if (!isAnswer(kind, Object.keys(answer))) throw new Error('the upstream sent no answer');
  if (!writtenAs) return { how: 'whole', last, contentType: JSON_TYPE };
  const text = Buffer.from(transcriptText(answer, writtenAs));
  return { how: 'whole', last: text, contentType: TEXT_TYPE };
}

function isAnswer(kind: StreamKind, names: readonly string[]): boolean {
  return ANSWER_FIELDS[kind].some((field) => names.includes(field));
}

/** @returns what the client has not got yet */
async function passOn(
  chunks: AsyncIterable<Buffer>,
  skim: JsonSkim,
  { client, stop, kind, writtenAs }: AnswerRelayOptions,
): Promise<Buffer> {
  let kept: Buffer[] = [];
  let [keptBytes, bytes] = [0, 0];
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new TooMuch(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    const before = kept;
    const passed = skim.push(chunk);
    // The text is written from what is read, once that is whole.
    if (writtenAs) continue;
    if (keptBytes + passed.length <= MAX_KEPT_BYTES) {
      kept.push(passed);
      keptBytes += passed.length;
      continue;
    }
    if (!client.started && (skim.topNames.has('error') || !isAnswer(kind, [...skim.topNames])))
      throw new Error('the upstream sent no answer');
    // It has most of it before it is paid: if it could hold up the rest until the time is over, it would pay less.
    client.breakIfStalled();
    kept = [passed];
    keptBytes = MAX_KEPT_BYTES;
    await client.write(Buffer.concat(before), JSON_TYPE, stop);
    if (stop.aborted) throw new Error('the time was over');
  }
  return Buffer.concat(kept);
}
