import { crc32 } from 'node:zlib';

export interface PngParts {
  width: number;
  height: number;
  /** 0 for grey, 2 for red, green and blue; 8 bits each. */
  colorType: 0 | 2;
  /** The rows, each with its filter byte, deflated. */
  data: Buffer;
}

/** A small PNG, made without the drawing thread. */
export function pngOf({ width, height, colorType, data }: PngParts): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, colorType, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, payload: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), payload]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
