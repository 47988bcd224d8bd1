import { describe, expect, it } from 'vitest';
import { NotAVideo, wholeMp4 } from './mp4-check.js';

function box(type: string, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

function longBox(type: string, payload: string): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write(type, 4, 'latin1');
  head.writeBigUInt64BE(BigInt(16 + payload.length), 8);
  return Buffer.concat([head, Buffer.from(payload)]);
}

function openBox(type: string, payload: string): Buffer {
  const whole = box(type, payload);
  whole.writeUInt32BE(0);
  return whole;
}

const FTYP = box('ftyp', 'isom0000');
const MOOV = box('moov', 'tracks and so on');
const MDAT = box('mdat', 'the pictures');

async function* inPieces(file: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
}

async function pass(file: Buffer, pieceBytes = 5): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of wholeMp4(inPieces(file, pieceBytes))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('the check of an MP4 file', () => {
  const good: [name: string, file: Buffer][] = [
    ['movie first', Buffer.concat([FTYP, MOOV, MDAT])],
    ['movie last', Buffer.concat([FTYP, box('free'), MDAT, MOOV])],
    ['a long box', Buffer.concat([FTYP, MOOV, longBox('mdat', 'the pictures')])],
    ['a last box of unknown length', Buffer.concat([FTYP, MOOV, openBox('mdat', 'the pictures')])],
    ['padding after the movie', Buffer.concat([FTYP, MOOV, MDAT, Buffer.from([0, 0, 0, 3, 0, 0, 0, 0, 9])])],
  ];

  it.each(good)('passes on a whole file with %s, however it is cut into pieces', async (_, file) => {
    for (const pieceBytes of [1, 3, 7, 8, 9, 16, 1000]) expect(await pass(file, pieceBytes)).toEqual(file);
  });

  it('notices a file that is cut short at any byte', async () => {
    const file = Buffer.concat([FTYP, MDAT, MOOV]);
    for (let bytes = 0; bytes < file.length; bytes += 1) {
      await expect(pass(file.subarray(0, bytes))).rejects.toThrow(NotAVideo);
    }
  });

  it.each([
    ['a web page', Buffer.from('<!doctype html><title>sorry</title>')],
    ['boxes without a file type', Buffer.concat([MOOV, MDAT])],
    ['no movie', Buffer.concat([FTYP, MDAT])],
    ['an impossible box', Buffer.concat([FTYP, Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])])],
    ['nothing', Buffer.alloc(0)],
  ])('refuses %s', async (_, file) => {
    await expect(pass(file)).rejects.toThrow(NotAVideo);
  });
});
