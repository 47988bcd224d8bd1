import type { SentFile } from '#upstream/outcomes.js';
import { ApiError } from '#platform/errors.js';
import { invalid } from '../http/fields.js';
import type { FormEntry, FormFile } from '../http/multipart-body.js';
import { mp3Seconds } from './mp3-frames.js';
import { wavSeconds } from './wav-header.js';

/** Whole seconds of sound. */
export interface SoundSeconds {
  /** No fewer than a vendor will bill, but for a file that was made to be longer than its bytes allow. */
  readonly most: bigint;
  /** What it probably is, for a vendor that does not say. */
  readonly likely: bigint;
  /** Counted from the sound itself, and not from the size of its file. */
  readonly isMeasured: boolean;
}

/** A file of sound that a request hands over. */
export interface SoundFile extends SentFile {
  readonly seconds: SoundSeconds;
}

/** The lowest rate at which codecs of speech are used: 6 kbit/s. */
const LEAST_BYTES_PER_SECOND = 750;
/** 64 kbit/s, the usual rate of recorded speech. */
const LIKELY_BYTES_PER_SECOND = 8_000;
/** A day; a shorter file cannot be held for in seconds that a charge may have. */
const MOST_SECONDS = 86_400;
/** Where the head of every kind of file says what it is. */
const HEAD_BYTES = 64 * 1024;

type Kind = 'flac' | 'mp3' | 'mp4' | 'ogg' | 'wav' | 'webm';

const MIMES: Record<Kind, string> = {
  flac: 'audio/flac',
  mp3: 'audio/mpeg',
  mp4: 'audio/mp4',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  webm: 'audio/webm',
};

/** The one sound of a form, by its bytes: neither its name nor its type is asked. @throws ApiError naming `file` */
export function soundOf(entries: readonly FormEntry[]): SoundFile {
  const files = entries.filter(([, , file]) => file !== null);
  const file = files.find(([name]) => name === 'file')?.[2];
  if (!file) {
    const message = 'file is required: send the audio as a file of multipart/form-data.';
    throw new ApiError('missing_required_parameter', message, { param: 'file' });
  }
  if (files.length > 1) throw invalid('file', 'must be the only file');
  return readSound(file);
}

function readSound({ pieces }: Pick<FormFile, 'pieces'>): SoundFile {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = headOf(pieces);
  const kind = kindOf(head);
  if (kind === undefined) throw invalid('file', 'must be flac, mp3, mp4, m4a, ogg, wav or webm');
  const measured =
    kind === 'wav' ? wavSeconds(head, bytes) : kind === 'mp3' ? mp3Seconds(pieces, bytes) : null;
  if (measured !== null && measured > MOST_SECONDS)
    throw invalid('file', `must be at most ${MOST_SECONDS} seconds long`);
  return { pieces, mime: MIMES[kind], name: `audio.${kind}`, seconds: secondsOf(measured, bytes) };
}

/** A second more than measured is held for: vendors round, and decoders add the delay of their codec. */
function secondsOf(measured: number | null, bytes: number): SoundSeconds {
  if (measured !== null) {
    const likely = atLeastOne(measured);
    return { most: likely + 1n, likely, isMeasured: true };
  }
  const [most, likely] = [bytes / LEAST_BYTES_PER_SECOND, bytes / LIKELY_BYTES_PER_SECOND];
  return { most: atLeastOne(most), likely: atLeastOne(likely), isMeasured: false };
}

function atLeastOne(seconds: number): bigint {
  return BigInt(Math.max(1, Math.ceil(seconds)));
}

function headOf(pieces: readonly Buffer[]): Buffer {
  const head: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (bytes >= HEAD_BYTES) break;
    head.push(piece.subarray(0, HEAD_BYTES - bytes));
    bytes += piece.length;
  }
  return Buffer.concat(head);
}

function kindOf(head: Buffer): Kind | undefined {
  const text = head.toString('latin1', 0, 12);
  if (text.startsWith('RIFF') && text.endsWith('WAVE')) return 'wav';
  if (text.startsWith('fLaC')) return 'flac';
  if (text.startsWith('OggS')) return 'ogg';
  if (text.startsWith('\x1aE\xdf\xa3')) return 'webm';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  // Frames of AAC begin alike but name layer 0.
  const isFrame = head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0 && ((head[1] ?? 0) & 0x06) !== 0;
  return text.startsWith('ID3') || isFrame ? 'mp3' : undefined;
}
