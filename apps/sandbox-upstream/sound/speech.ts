import { readJsonBody, VendorRefusal, refusedField } from '../answers.js';
import { deliver } from '../delivery.js';
import { readDirectives, refuseAsOrdered } from '../directives.js';
import {
  type Exchange,
  holdUntilClientLeaves,
  optionalTextField,
  pause,
  requiredTextField,
  seedOf,
  type Vendor,
} from '../vendor.js';

const SAMPLES_PER_SECOND = 16_000;
const SECONDS_PER_WORD = 0.2;
const MAX_WORDS = 50;
const MAX_INPUT = 4_096;
/** The part size of a sound sent as events. A multiple of three, so that no part ends in padding. */
const EVENT_BYTES = 6_144;
/** The reported usage of a streamed sound. */
const TOKENS_PER_WORD = 8;
/** The volume: quiet enough for an office. */
const LOUDNESS = 0x1800;

interface Sound {
  contentType: string;
  make(words: string[]): Buffer;
}

/** Formats that need no encoder: sounds in WAV and PCM, and silence in MP3. */
const sounds: Record<string, Sound> = {
  wav: { contentType: 'audio/wav', make: (words) => wav(melody(words)) },
  pcm: { contentType: 'audio/pcm', make: melody },
  mp3: { contentType: 'audio/mpeg', make: (words) => silentMp3(words.length * SECONDS_PER_WORD) },
};

/** `POST /v1/audio/speech`: a tone for each word. The same word has the same tone. */
export async function speak(vendor: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const { input, sound } = readSpeech(body);
  const { faults, workMs, caption } = readDirectives(input);
  refuseAsOrdered(faults);
  await pause(vendor, workMs ?? 0);
  if (faults.includes('fail-late'))
    throw new VendorRefusal(500, 'generation_failed', 'It failed as ordered.');
  const words = caption.split(' ').slice(0, MAX_WORDS);
  vendor.stats.speechesMade += 1;
  if (faults.includes('accept-then-timeout') || faults.includes('never-finish')) {
    return holdUntilClientLeaves(vendor, exchange.response);
  }
  const parcelFaults = faults.includes('stream-cut') ? [...faults, 'truncated' as const] : faults;
  const parcel = { bytes: sound.make(words), contentType: sound.contentType };
  const asked = body['stream_format'] === 'sse' ? asEvents(parcel.bytes, words.length) : parcel;
  await deliver(vendor, exchange, { ...asked, faults: parcelFaults });
}

/** @throws VendorRefusal */
function readSpeech(body: Record<string, unknown>) {
  requiredTextField(body, 'model');
  const input = requiredTextField(body, 'input');
  if (input.length > MAX_INPUT) throw refusedField('input', 'Too long.', 'string_above_max_length');
  if (!body['voice']) throw refusedField('voice', 'A voice is needed.', 'missing_required_parameter');
  const sound = sounds[optionalTextField(body, 'response_format') ?? 'mp3'];
  if (sound) return { input, sound };
  throw refusedField('response_format', 'A format is mp3, wav or pcm.');
}

/** The sound in parts, one event each, with the usage in the last. */
function asEvents(sound: Buffer, words: number): { bytes: Buffer; contentType: string } {
  const parts: object[] = [];
  for (let at = 0; at < sound.length; at += EVENT_BYTES) {
    const audio = sound.toString('base64', at, at + EVENT_BYTES);
    parts.push({ type: 'speech.audio.delta', audio });
  }
  const output = words * TOKENS_PER_WORD;
  const usage = { input_tokens: words, output_tokens: output, total_tokens: words + output };
  parts.push({ type: 'speech.audio.done', usage });
  const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');
  return { bytes: Buffer.from(text), contentType: 'text/event-stream' };
}

/** 16-bit samples, one channel. */
function melody(words: string[]): Buffer {
  const each = SAMPLES_PER_SECOND * SECONDS_PER_WORD;
  const samples = new Int16Array(each * words.length);
  words.forEach((word, index) => {
    const hertz = 200 + Number.parseInt(seedOf(word, 0).slice(0, 2), 16) * 2;
    for (let at = 0; at < each; at += 1) {
      const fade = Math.sin((Math.PI * at) / each);
      const wave = Math.sin((2 * Math.PI * hertz * at) / SAMPLES_PER_SECOND);
      samples[index * each + at] = LOUDNESS * fade * wave;
    }
  });
  return Buffer.from(samples.buffer);
}

function wav(samples: Buffer): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  header.writeUInt32LE(SAMPLES_PER_SECOND * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** MPEG 1, layer III, 128 kbit/s, 44,100 samples a second, one channel; 1,152 samples in 417 bytes. */
const FRAME_HEADER = Buffer.from('fffb90c4', 'hex');
const FRAME_BYTES = 417;
const FRAMES_PER_SECOND = 44_100 / 1_152;

/** Frames whose side information is all zeros decode to silence. */
function silentMp3(seconds: number): Buffer {
  const frame = Buffer.concat([FRAME_HEADER, Buffer.alloc(FRAME_BYTES - FRAME_HEADER.length)]);
  return Buffer.concat(Array<Buffer>(Math.ceil(seconds * FRAMES_PER_SECOND)).fill(frame));
}
