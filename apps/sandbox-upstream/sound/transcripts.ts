import { readFormBody, VendorRefusal, refusedField } from '../answers.js';
import { deliver } from '../delivery.js';
import { type Directives, readDirectives, refuseAsOrdered } from '../directives.js';
import { type Exchange, holdUntilClientLeaves, pause, type Vendor } from '../vendor.js';

/** The transcript if the prompt has no words. */
const HEARD = 'The light is on.';
/** For a sound without a readable header: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
const WAV_RATE_AT = 28;
const WAV_HEAD_BYTES = 44;
const TOKENS_PER_SECOND = 10;
const SECONDS_PER_CUE = 4;

/** The transcript. */
interface Heard {
  words: string[];
  seconds: number;
  format: string;
  streamed: boolean;
  /** Whether the model reports tokens, as vendors' newer models do. */
  isCounted: boolean;
  directives: Directives;
}

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`: the words of the prompt, regardless of the sound. */
export async function transcribe(vendor: Vendor, exchange: Exchange): Promise<void> {
  const form = await readFormBody(exchange.request);
  const heard = await readForm(form);
  const { faults, workMs } = heard.directives;
  refuseAsOrdered(faults);
  await pause(vendor, workMs ?? 0);
  if (faults.includes('fail-late'))
    throw new VendorRefusal(500, 'generation_failed', 'It failed as ordered.');
  vendor.stats.transcriptsMade += 1;
  if (faults.includes('accept-then-timeout') || faults.includes('never-finish')) {
    return holdUntilClientLeaves(vendor, exchange.response);
  }
  await deliver(vendor, exchange, { ...(heard.streamed ? asEvents(heard) : asAnswer(heard)), faults });
}

async function readForm(form: FormData): Promise<Heard> {
  const [file, model, prompt] = [form.get('file'), form.get('model'), form.get('prompt')];
  if (!(file instanceof Blob) || typeof model !== 'string')
    throw refusedField('file', 'A file and a model are needed.', 'missing_required_parameter');
  const format = form.get('response_format') ?? 'json';
  if (typeof format !== 'string' || !/^(verbose_)?json$/.test(format))
    throw refusedField('response_format', 'A format is json or verbose_json.');
  const directives = readDirectives(typeof prompt === 'string' ? prompt : '');
  const words = (directives.caption || HEARD).split(' ');
  const bytes = Buffer.from(await file.arrayBuffer());
  const seconds = directives.seconds ?? lengthOf(bytes);
  const isCounted = model.includes('tokens');
  return { words, seconds, format, streamed: form.get('stream') === 'true', isCounted, directives };
}

function lengthOf(bytes: Buffer): number {
  const isWav = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.length > WAV_HEAD_BYTES;
  if (!isWav) return bytes.length / BYTES_PER_SECOND;
  return (bytes.length - WAV_HEAD_BYTES) / Math.max(1, bytes.readUInt32LE(WAV_RATE_AT));
}

function usageOf({ seconds, isCounted, words, directives }: Heard): object {
  const { faults, tokens: output = words.length } = directives;
  if (faults.includes('no-usage')) return {};
  if (!isCounted) return { usage: { type: 'duration', seconds: Math.ceil(seconds) } };
  const input = Math.ceil(seconds * TOKENS_PER_SECOND);
  const details = { text_tokens: 0, audio_tokens: input };
  const counts = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  return { usage: { type: 'tokens', ...counts, input_token_details: details } };
}

function asAnswer(heard: Heard): { bytes: Buffer; contentType: string } {
  const text = heard.words.join(' ');
  const { seconds: duration } = heard;
  const isVerbose = heard.format === 'verbose_json';
  const more = { task: 'transcribe', language: 'english', duration, segments: segmentsOf(text, duration) };
  const answer = { text, ...(isVerbose && more), ...usageOf(heard) };
  return { bytes: Buffer.from(JSON.stringify(answer)), contentType: 'application/json' };
}

function segmentsOf(text: string, seconds: number): object[] {
  const starts = Array.from(
    { length: Math.ceil(seconds / SECONDS_PER_CUE) },
    (_, at) => at * SECONDS_PER_CUE,
  );
  return starts.map((start, id) => {
    const end = Math.min(seconds, start + SECONDS_PER_CUE);
    return { id, start, end, text: ` ${text}` };
  });
}

function asEvents(heard: Heard): { bytes: Buffer; contentType: string } {
  const deltas = heard.words.map((word, at) => ({
    type: 'transcript.text.delta',
    delta: at === 0 ? word : ` ${word}`,
  }));
  const done = { type: 'transcript.text.done', text: heard.words.join(' '), ...usageOf(heard) };
  const events = [...deltas, done].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return { bytes: Buffer.from(events.join('')), contentType: 'text/event-stream' };
}
