import { MOST_OPUS_SECONDS, opusSeconds, vorbisSeconds } from './packets.js';
import { inTurns, type ReadInTurns, type SoundBytes, type SoundLength } from './sound-bytes.js';

/** Elements that contain elements. As everywhere, IDs include the bits that state their length. */
const PARENTS = new Set([0x18538067, 0x1549a966, 0x1654ae6b, 0x1f43b675, 0xae, 0xa0]);
/** The two that recorders begin before they know the size: the file and its clusters. */
const LEFT_OPEN = new Set([0x18538067, 0x1f43b675]);
const ID = {
  info: 0x1549a966,
  scale: 0x2ad7b1,
  duration: 0x4489,
  clusterTime: 0xe7,
  track: 0xae,
  number: 0xd7,
  type: 0x83,
  codec: 0x86,
  codecHead: 0x63a2,
  simpleBlock: 0xa3,
  block: 0xa1,
};
/** Fields of a track; elsewhere they are ignored. */
const TRACK_IDS = new Set([ID.number, ID.type, ID.codec, ID.codecHead]);
/** Compressed and encrypted frames, whose length cannot be seen. */
const HIDDEN = new Set([0x6d80, 0xaf]);
const AUDIO = 2;
const DEFAULT_SCALE = 1_000_000;
/** Where the headers of a Vorbis stream may begin. */
const CODEC_HEAD_BYTES = 64;
/** Packets of 20 ms for two hours and more. */
const MOST_ELEMENTS = 500_000;
const MOST_TRACKS = 100;

interface Track {
  number: number;
  type: number;
  codec: string;
  perBlock: number | null;
  /** What it states about itself: once each, because decoders differ in which of several they use. */
  given: Set<number>;
}

/** An element that others are in. */
interface Parent {
  id: number;
  end: number;
}

interface Element {
  id: number;
  content: number;
  size: number;
  parent: number | undefined;
}

/** What has been read so far. */
class Reading {
  readonly tracks: Track[] = [];
  readonly frames = new Map<number, { count: number; asOpus: number }>();
  firstTime = Infinity;
  lastTime = 0;
  scale: number | null = null;
  duration = 0;
}

/**
 * The length of a WebM file: the frames of all its Opus and Vorbis tracks, or its stated length if that is longer. Null for
 * other codecs, and for elements that do not fit into their parents, which decoders read in different ways.
 */
export async function webmLength(bytes: SoundBytes, start: number): Promise<SoundLength | null> {
  const reading = new Reading();
  if (!(await inTurns(readElements(bytes, start, reading)))) return null;
  const sounds = reading.tracks.filter(({ type }) => type === AUDIO);
  let counted = 0;
  for (const { number, codec, perBlock } of sounds) {
    const { count = 0, asOpus = 0 } = reading.frames.get(number) ?? {};
    if (codec === 'A_OPUS') counted += asOpus;
    else if (codec === 'A_VORBIS' && perBlock !== null) counted += count * perBlock;
    else return null;
  }
  const { duration, firstTime, lastTime, scale } = reading;
  const stated = (Math.max(duration, lastTime - firstTime, 0) * (scale ?? DEFAULT_SCALE)) / 1e9;
  if (sounds.length === 0 || !Number.isFinite(stated)) return null;
  const isExact = sounds.every(({ codec }) => codec === 'A_OPUS') || stated === 0;
  return { most: Math.max(counted, stated), likely: isExact ? counted : Math.min(counted, stated) };
}

/** False if it cannot be parsed. */
function* readElements(bytes: SoundBytes, start: number, reading: Reading): ReadInTurns<boolean> {
  const parents: Parent[] = [];
  let elements = 0;
  for (let at = start; at < bytes.length; elements += 1) {
    yield;
    while (at >= (parents.at(-1)?.end ?? Infinity)) parents.pop();
    const parent = parents.at(-1);
    const idBytes = widthOf(bytes.at(at));
    const sizeAt = at + idBytes;
    const sizeBytes = widthOf(bytes.at(sizeAt));
    if (idBytes > 4 || sizeBytes > 8 || elements > MOST_ELEMENTS) return false;
    const id = bytes.big(at, idBytes);
    const size = sizeOf(bytes, sizeAt, sizeBytes);
    const content = sizeAt + sizeBytes;
    const isParent = PARENTS.has(id);
    if (HIDDEN.has(id) || (size === null && !LEFT_OPEN.has(id))) return false;
    if (size !== null && content + size > (parent?.end ?? Infinity)) return false;
    if (isParent && (parent?.id === ID.track || reading.tracks.length > MOST_TRACKS)) return false;
    if (isParent && size !== null) parents.push({ id, end: content + size });
    if (id === ID.track)
      reading.tracks.push({ number: 0, type: 0, codec: '', perBlock: null, given: new Set() });
    const element = { id, content, size: size ?? 0, parent: parent?.id };
    if (!isParent && !readElement(bytes, element, reading)) return false;
    at = isParent ? content : content + (size ?? 0);
  }
  return true;
}

function widthOf(first: number): number {
  return Math.clz32(first << 24) + 1;
}

/** Null if the size is left open, as in browser recordings. */
function sizeOf(bytes: SoundBytes, at: number, width: number): number | null {
  const mask = 0xff >> width;
  const first = bytes.at(at) & mask;
  const rest = bytes.big(at + 1, width - 1);
  const isOpen = first === mask && rest >= 2 ** (8 * (width - 1)) - 1;
  return isOpen ? null : first * 2 ** (8 * (width - 1)) + rest;
}

/** False if decoders read it differently. */
function readElement(bytes: SoundBytes, element: Element, reading: Reading): boolean {
  const { id, content, size, parent } = element;
  const track = reading.tracks.at(-1);
  if (parent === ID.track && track) return readTrackElement(bytes, element, track);
  if (id === ID.simpleBlock || id === ID.block) addBlock(bytes, content, reading);
  else if (id === ID.clusterTime) {
    const time = bytes.big(content, Math.min(size, 8));
    reading.firstTime = Math.min(reading.firstTime, time);
    reading.lastTime = Math.max(reading.lastTime, time);
  } else if (id === ID.scale) {
    if (parent !== ID.info || reading.scale !== null || !isNumber(size)) return false;
    reading.scale = Math.max(bytes.big(content, size), 1);
  } else if (id === ID.duration) {
    reading.duration = Math.max(reading.duration, floatAt(bytes, content, size));
  }
  return true;
}

function readTrackElement(bytes: SoundBytes, { id, content, size }: Element, track: Track): boolean {
  if (!TRACK_IDS.has(id)) return true;
  if (track.given.has(id)) return false;
  track.given.add(id);
  if (id === ID.codec) track.codec = bytes.text(content, Math.min(size, 16)).replace(/\0+$/, '');
  else if (id === ID.codecHead) track.perBlock = vorbisHeadIn(bytes, content, size);
  else {
    const value = bytes.big(content, Math.min(size, 8));
    if (!isNumber(size) || !Number.isSafeInteger(value)) return false;
    if (id === ID.number) track.number = value;
    else track.type = value;
  }
  return true;
}

/** A number without bytes has its default value, and none is wider than eight bytes. */
function isNumber(size: number): boolean {
  return size >= 1 && size <= 8;
}

function floatAt(bytes: SoundBytes, at: number, size: number): number {
  const view = Buffer.from(Array.from({ length: size === 4 ? 4 : 8 }, (_, each) => bytes.at(at + each)));
  return size === 4 ? view.readFloatBE() : view.readDoubleBE();
}

function vorbisHeadIn(bytes: SoundBytes, at: number, size: number): number | null {
  const from = bytes.text(at, Math.min(size, CODEC_HEAD_BYTES)).indexOf('\x01vorbis');
  return from < 0 ? null : vorbisSeconds(bytes, at + from);
}

/** One frame, or several (laced), which are not told apart: each counts as the longest. */
function addBlock(bytes: SoundBytes, at: number, { frames }: Reading): void {
  const width = widthOf(bytes.at(at));
  const number = sizeOf(bytes, at, width) ?? 0;
  const flagsAt = at + width + 2;
  const isLaced = (bytes.at(flagsAt) & 0x06) !== 0;
  const count = isLaced ? bytes.at(flagsAt + 1) + 1 : 1;
  const asOpus = isLaced ? count * MOST_OPUS_SECONDS : opusSeconds(bytes, flagsAt + 1);
  const before = frames.get(number) ?? { count: 0, asOpus: 0 };
  frames.set(number, { count: before.count + count, asOpus: before.asOpus + asOpus });
}
