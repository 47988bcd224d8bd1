import { codecOf, frameSecondsOf } from './mp4-codecs.js';
import { Fragments } from './mp4-fragments.js';
import { Unread } from './mp4-unread.js';
import { eachBelow, inTurns, type ReadInTurns, type SoundBytes, type SoundLength } from './sound-bytes.js';

const PARENTS = new Set(['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf']);
/** Metadata of a track: once each, because decoders differ in which of several they use. Its parts have handlers too. */
const TRACK_BOXES = new Set(['tkhd', 'hdlr', 'mdhd', 'stsd', 'stts', 'stsz', 'stz2', 'elst']);
/** Silent tracks have both one of these handlers and one of these codecs. */
const SILENT_HANDLERS = ['text', 'tx3g', 'tmcd', 'mebx', 'rtp ', 'sbtl', 'hint', 'meta'];
const SILENT_CODECS = ['text', 'tx3g', 'tmcd', 'mebx', 'rtp ', 'gpmd', 'mett', 'metx'];
/** Handlers of where the bytes are, which QuickTime writes into a track as well. */
const DATA_HANDLERS = ['alis', 'url '];
/** A compressed index, which cannot be read. */
const HIDDEN = new Set(['cmov']);
const MOST_BOXES = 100_000;
const MOST_DEPTH = 8;
const MOST_TRACKS = 100;
/** The entries of the time table: one wherever the length of frames changes. */
const MOST_TIMES = 500_000;
/**
 * 6 kbit/s, below any speech codec: a sample may contain several frames, which some decoders play, so the bytes of the
 * audio count as well.
 */
const LEAST_BYTES_PER_SECOND = 750;

interface Track {
  id: number;
  /** The names of the boxes that it has. */
  given: Set<string>;
  handlers: string[];
  isCut: boolean;
  codec: string | null;
  frameSeconds: number | null;
  timescale: number;
  duration: number;
  frames: number;
  frameBytes: number;
}

/** What has been read so far. */
class Reading {
  readonly tracks: Track[] = [];
  /** The one that is being read. */
  track: Track | null = null;
  movieSeconds = 0;
  boxes = 0;
  readonly fragments: Fragments;
  readonly unread: Unread;

  constructor(bytes: SoundBytes) {
    this.fragments = new Fragments(bytes);
    this.unread = new Unread(bytes);
  }
}

interface Box {
  type: string;
  content: number;
  end: number;
}

/**
 * The length of an MP4 file: the frames of all its audio tracks, or its stated length if that is longer. Null for codecs
 * without a known frame length, and for files that cannot be parsed.
 */
export async function mp4Length(bytes: SoundBytes, start: number): Promise<SoundLength | null> {
  const reading = new Reading(bytes);
  if (!(await inTurns(readBoxes(bytes, { from: start, end: bytes.length, depth: 0 }, reading)))) return null;
  const sounds = reading.tracks.filter(isSound);
  let counted = 0;
  let stated = 0;
  let byBytes = 0;
  for (const { id, isCut, frameSeconds, timescale, duration, frames, frameBytes } of sounds) {
    if (isCut || frameSeconds === null || timescale === 0) return null;
    const later = reading.fragments.of(id);
    counted += (frames + later.frames) * frameSeconds;
    stated += duration / timescale;
    byBytes += (frameBytes + later.bytes) / LEAST_BYTES_PER_SECOND;
  }
  if (sounds.length === 0) return null;
  const likely = stated > 0 ? Math.min(counted, stated) : counted;
  return { most: Math.max(counted, stated, byBytes, reading.movieSeconds), likely };
}

/** Some decoders go by the handler and others by the codec. A video is one to all of them. */
function isSound({ handlers, codec }: Track): boolean {
  const isOf = (some: string[]) => handlers.length > 0 && handlers.every((one) => some.includes(one));
  return !isOf(['vide']) && !(isOf(SILENT_HANDLERS) && SILENT_CODECS.includes(codec ?? ''));
}

interface Range {
  from: number;
  end: number;
  depth: number;
}

/** False if it cannot be parsed. A box ends with its parent, as in decoders. */
function* readBoxes(bytes: SoundBytes, { from, end, depth }: Range, reading: Reading): ReadInTurns<boolean> {
  if (depth > MOST_DEPTH) return false;
  for (let at = from; at + 8 <= end;) {
    yield;
    const short = bytes.big(at, 4);
    const type = bytes.text(at + 4, 4);
    const size = short === 1 ? bytes.big(at + 8, 8) : short === 0 ? end - at : short;
    const content = at + (short === 1 ? 16 : 8);
    reading.boxes += 1;
    if (at + size < content || HIDDEN.has(type) || reading.boxes > MOST_BOXES) return false;
    const box = { type, content, end: Math.min(at + size, end) };
    const isRead = PARENTS.has(type)
      ? yield* readParent(bytes, box, { depth, reading })
      : yield* readBox(bytes, box, reading);
    if (!isRead) return false;
    at = box.end;
  }
  return true;
}

function* readParent(
  bytes: SoundBytes,
  { type, content, end }: Box,
  { depth, reading }: { depth: number; reading: Reading },
): ReadInTurns<boolean> {
  const range = { from: content, end, depth: depth + 1 };
  if (type !== 'trak') return yield* readBoxes(bytes, range, reading);
  if (reading.tracks.length >= MOST_TRACKS) return false;
  const none = {
    id: 0,
    isCut: false,
    codec: null,
    frameSeconds: null,
    timescale: 0,
    duration: 0,
    frames: 0,
    frameBytes: 0,
  };
  const track = { ...none, given: new Set<string>(), handlers: [] };
  reading.track = track;
  reading.tracks.push(track);
  const isRead = yield* readBoxes(bytes, range, reading);
  reading.track = null;
  return isRead;
}

function* readBox(bytes: SoundBytes, box: Box, reading: Reading): ReadInTurns<boolean> {
  const { type, content } = box;
  if (type === 'mvhd' || type === 'mehd') {
    if (type === 'mvhd') reading.movieSeconds = Math.max(reading.movieSeconds, secondsIn(bytes, content));
  } else if (type === 'tfhd') reading.fragments.begin(content);
  else if (type === 'trun') return yield* reading.fragments.add(box);
  else if (TRACK_BOXES.has(type)) {
    const { track } = reading;
    if (!track || (track.given.has(type) && type !== 'hdlr')) return false;
    track.given.add(type);
    // The description of a codec has boxes of its own.
    const isHarmless = type !== 'stsd' || (yield* reading.unread.isHarmless(box, true));
    return isHarmless && (yield* readTrackBox(bytes, box, track));
  } else return yield* reading.unread.isHarmless(box, reading.track !== null);
  return true;
}

/** The times of a head: its version says how wide they are. */
function timesIn(bytes: SoundBytes, at: number): { timescale: number; duration: number } {
  const isWide = bytes.at(at) === 1;
  const scaleAt = at + (isWide ? 20 : 12);
  const duration = bytes.big(scaleAt + 4, isWide ? 8 : 4);
  // All ones: nobody knew.
  const isKnown = duration < (isWide ? 2 ** 63 : 2 ** 32 - 1);
  return { timescale: bytes.big(scaleAt, 4), duration: isKnown ? duration : 0 };
}

function secondsIn(bytes: SoundBytes, at: number): number {
  const { timescale, duration } = timesIn(bytes, at);
  return timescale > 0 ? duration / timescale : 0;
}

function* readTrackBox(bytes: SoundBytes, box: Box, track: Track): ReadInTurns<boolean> {
  const { type, content, end } = box;
  if (type === 'tkhd') track.id = bytes.big(content + (bytes.at(content) === 1 ? 20 : 12), 4);
  else if (type === 'hdlr') {
    const handler = bytes.text(content + 8, 4);
    if (!DATA_HANDLERS.includes(handler)) track.handlers.push(handler);
  } else if (type === 'mdhd') {
    const { timescale, duration } = timesIn(bytes, content);
    track.timescale = timescale;
    track.duration = Math.max(track.duration, duration);
  } else if (type === 'stsd') {
    track.codec = codecOf(bytes, content);
    track.frameSeconds = frameSecondsOf(bytes, content, end);
  } else if (type === 'stts') return yield* readTimes(bytes, box, track);
  else if (type === 'elst') track.isCut = !isWhole(bytes, content);
  else if (type === 'stsz') return yield* readSizes(bytes, box, track);
  else if (type === 'stz2') {
    track.frames += bytes.big(content + 8, 4);
    // Its sizes take some bits each; together they are no more than the file.
    track.frameBytes += bytes.length;
  }
  return true;
}

/** Of an edit list: the track once, at most behind a pause. A list may name a part of it again and again, and players follow. */
function isWhole(bytes: SoundBytes, content: number): boolean {
  const entries = bytes.big(content + 4, 4);
  const isBehindPause = bytes.at(content) === 0 && bytes.big(content + 12, 4) === 0xffffffff;
  return entries < 2 || (entries === 2 && isBehindPause);
}

function* readTimes(bytes: SoundBytes, { content, end }: Box, track: Track): ReadInTurns<boolean> {
  const entries = bytes.big(content + 4, 4);
  if (entries > MOST_TIMES || content + 8 + entries * 8 > end) return false;
  let sum = 0;
  yield* eachBelow(entries, (each) => {
    const at = content + 8 + each * 8;
    sum += bytes.big(at, 4) * bytes.big(at + 4, 4);
  });
  track.duration = Math.max(track.duration, sum);
  return true;
}

function* readSizes(bytes: SoundBytes, { content, end }: Box, track: Track): ReadInTurns<boolean> {
  const count = bytes.big(content + 8, 4);
  const size = bytes.big(content + 4, 4);
  track.frames += count;
  if (size > 0) track.frameBytes += count * size;
  else {
    if (count > MOST_TIMES || content + 12 + count * 4 > end) return false;
    yield* eachBelow(count, (each) => (track.frameBytes += bytes.big(content + 12 + each * 4, 4)));
  }
  return true;
}
