import type { SentFile } from '#upstream/outcomes.js';
import { ApiError } from '#platform/errors.js';
import { invalid } from '../http/fields.js';
import type { FormEntry, FormFile } from '../http/multipart-body.js';
import { flacLength } from './flac-frames.js';
import { mp3Length } from './mp3-frames.js';
import { mp4Length } from './mp4-boxes.js';
import { oggLength } from './ogg-pages.js';
import { SoundBytes, type SoundLength } from './sound-bytes.js';
import { wavLength } from './wav-header.js';
import { webmLength } from './webm-blocks.js';

/** Whole seconds of audio. */
export interface SoundSeconds {
  /** At least what a decoder plays: the seconds to hold for. */
  readonly most: bigint;
  /** The likely length, for a vendor that does not report it. */
  readonly likely: bigint;
}

/** An audio file from a request. */
export interface SoundFile extends SentFile {
  readonly seconds: SoundSeconds;
}

/** A day: no model accepts more at once. */
const MOST_SECONDS = 86_400;
/** Tags before the audio. Some programs add theirs to those of others. */
const MOST_TAGS = 16;
const TAG_HEAD_BYTES = 10;
/** Zeros after the tags, from programs that leave padding without declaring it. */
const MOST_PADDING = 65_536;

type Kind = 'flac' | 'mp3' | 'mp4' | 'ogg' | 'wav' | 'webm';

const MIMES: Record<Kind, string> = {
  flac: 'audio/flac',
  mp3: 'audio/mpeg',
  mp4: 'audio/mp4',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  webm: 'audio/webm',
};

/** Reads from where the audio begins. Null if it is not understood, because nothing could be held for it. */
type Measure = (bytes: SoundBytes, start: number) => SoundLength | null | Promise<SoundLength | null>;

const MEASURES: Record<Kind, Measure> = {
  flac: flacLength,
  mp3: mp3Length,
  mp4: mp4Length,
  ogg: oggLength,
  wav: wavLength,
  webm: webmLength,
};

/** The audio file of a form, identified by its bytes: its name and type are ignored. @throws ApiError naming `file` */
export async function soundOf(entries: readonly FormEntry[]): Promise<SoundFile> {
  const files = entries.filter(([, , file]) => file !== null);
  const file = files.find(([name]) => name === 'file')?.[2];
  if (!file) {
    const message = 'file is required: send the audio as a file of multipart/form-data.';
    throw new ApiError('missing_required_parameter', message, { param: 'file' });
  }
  if (files.length > 1) throw invalid('file', 'must be the only file');
  return readSound(file);
}

async function readSound({ pieces }: Pick<FormFile, 'pieces'>): Promise<SoundFile> {
  const bytes = new SoundBytes(pieces);
  const start = behindTags(bytes);
  const kind = kindAt(bytes, start);
  if (kind === undefined) throw invalid('file', 'must be a flac, mp3, mp4, m4a, ogg, wav or webm file');
  const length = await MEASURES[kind](bytes, start);
  if (length === null)
    throw invalid('file', 'has no length that can be read: encode it as PCM, MP3, AAC, Opus, Vorbis or FLAC');
  if (!(length.most <= MOST_SECONDS)) throw invalid('file', `must be at most ${MOST_SECONDS} seconds long`);
  return { pieces, mime: MIMES[kind], name: `audio.${kind}`, seconds: secondsOf(length) };
}

/** Holds for one more second, because vendors round and decoders add the delay of their codec. */
function secondsOf({ most, likely }: SoundLength): SoundSeconds {
  return { most: atLeastOne(Math.max(most, likely)) + 1n, likely: atLeastOne(likely) };
}

function atLeastOne(seconds: number): bigint {
  return BigInt(Math.max(1, Math.ceil(seconds)));
}

/** Tags state their length, in four times seven bits. Decoders look for any kind of audio after them and their padding. */
function behindTags(bytes: SoundBytes): number {
  let at = 0;
  for (let tags = 0; tags < MOST_TAGS && bytes.text(at, 3) === 'ID3'; tags += 1) {
    const hasFooter = (bytes.at(at + 5) & 0x10) !== 0;
    const size = [6, 7, 8, 9].reduce((sum, each) => sum * 128 + (bytes.at(at + each) & 0x7f), 0);
    at += size + TAG_HEAD_BYTES + (hasFooter ? TAG_HEAD_BYTES : 0);
  }
  if (at === 0) return 0;
  const behind = at + MOST_PADDING;
  while (at < behind && bytes.at(at) === 0) at += 1;
  return at;
}

/** Undefined for any other format, and after a tag with a false length, where decoders differ. */
function kindAt(bytes: SoundBytes, at: number): Kind | undefined {
  const text = bytes.text(at, 12);
  if (text.startsWith('RIFF') && text.endsWith('WAVE')) return 'wav';
  if (text.startsWith('fLaC')) return 'flac';
  if (text.startsWith('OggS')) return 'ogg';
  if (text.startsWith('\x1aE\xdf\xa3')) return 'webm';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  // Frames of AAC begin alike but name layer 0.
  const isFrame = bytes.at(at) === 0xff && (bytes.at(at + 1) & 0xe0) === 0xe0;
  return isFrame && (bytes.at(at + 1) & 0x06) !== 0 ? 'mp3' : undefined;
}
