const OPUS_60_MS = 0x18;

/** Silence as FLAC: 8.192 seconds in each frame of 13 bytes, at 8,000 samples per second. */
export function silentFlac(frames: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt32BE((8_000 << 4) * 256, 10);
  // 65,536 samples, one channel with 16 bits, the first frame. Its checksum follows.
  const frame = Buffer.from('fff8740800ffffb10000000000', 'hex');
  return Buffer.concat([
    Buffer.from('fLaC\x80\0\0\x22', 'latin1'),
    info,
    ...Array<Buffer>(frames).fill(frame),
  ]);
}

/** Silence as Opus in Ogg: 60 ms in each packet of one byte. */
export function silentOgg(packets: number): Buffer {
  const pages = [oggPage([Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')], 2)];
  for (let left = packets; left > 0; left -= 255) {
    pages.push(oggPage(Array<Buffer>(Math.min(left, 255)).fill(Buffer.from([OPUS_60_MS]))));
  }
  return Buffer.concat(pages);
}

/** A page of stream 0 that ends all its packets, each shorter than 255 bytes. Time and checksum are empty. */
export function oggPage(packets: Buffer[], flags = 0): Buffer {
  const head = Buffer.alloc(27, 0);
  head.write('OggS', 0, 'latin1');
  head[5] = flags;
  head.fill(0xff, 6, 14);
  head[26] = packets.length;
  return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
}

/** The same in WebM, as browsers record it: neither the file nor its cluster states a length. */
export function silentWebm(blocks: number): Buffer {
  const track = [element('d7', Buffer.from([1])), element('83', Buffer.from([2])), element('86', 'A_OPUS')];
  const block = element('a3', Buffer.from([0x81, 0, 0, 0x80, OPUS_60_MS]));
  return Buffer.concat([
    element('1a45dfa3', element('4282', 'webm')),
    Buffer.from('1853806701ffffffffffffff', 'hex'),
    element('1654ae6b', element('ae', Buffer.concat(track))),
    Buffer.from('1f43b67501ffffffffffffff', 'hex'),
    element('e7', Buffer.from([0])),
    ...Array<Buffer>(blocks).fill(block),
  ]);
}

/** An EBML element, shorter than 16,383 bytes. */
export function element(id: string, content: Buffer | string): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(0x4000 + Buffer.byteLength(content));
  return Buffer.concat([Buffer.from(id, 'hex'), size, Buffer.from(content)]);
}

/** AAC in MP4: 0.128 seconds in each frame, at 8,000 samples per second. `bytes` is the total size of the frames. */
export function silentM4a(frames: number, bytes = frames * 6): Buffer {
  const size = Math.ceil(bytes / frames);
  const configuration = Buffer.from('031600010004114015000000000000000000000005021588', 'hex');
  const entry = box('mp4a', Buffer.alloc(28), box('esds', Buffer.alloc(4), configuration));
  const stbl = box(
    'stbl',
    box('stsd', words(0, 1), entry),
    box('stts', words(0, 1, frames, 1_024)),
    box('stsz', words(0, size, frames)),
  );
  const media = box(
    'mdia',
    box('mdhd', words(0, 0, 0, 8_000, frames * 1_024, 0)),
    handler,
    box('minf', stbl),
  );
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0M4A ', 'latin1')),
    box('moov', box('trak', box('tkhd', words(0, 0, 0, 1)), media)),
    box('mdat', Buffer.alloc(frames * size)),
  ]);
}

/** An MP4 box. */
export function box(type: string, ...content: Buffer[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([words(length), Buffer.from(type, 'latin1'), ...content]);
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
  return bytes;
}

const handler = box('hdlr', words(0, 0), Buffer.from('soun'), Buffer.alloc(12));
