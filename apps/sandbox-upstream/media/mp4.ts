/** One box of an MP4 file: its type, and the position of its payload. */
export interface Mp4Box {
  type: string;
  start: number;
  end: number;
}

const HEADER_BYTES = 8;

/** The sibling boxes in `file` from `start` to `end`. @throws RangeError if a size is impossible. */
export function readBoxes(file: Buffer, start = 0, end = file.length): Mp4Box[] {
  const boxes: Mp4Box[] = [];
  let at = start;
  while (at < end) {
    const size = file.readUInt32BE(at);
    if (size < HEADER_BYTES || at + size > end) throw new RangeError(`Box of ${size} bytes at ${at}`);
    boxes.push({
      type: file.toString('latin1', at + 4, at + HEADER_BYTES),
      start: at + HEADER_BYTES,
      end: at + size,
    });
    at += size;
  }
  return boxes;
}

/** The bytes of fixed fields before the child boxes, for containers that have some. */
const fieldsBeforeChildren: Record<string, number> = { stsd: 8, avc1: 78 };

/** The first box at a path such as `moov/trak/mdia`, or undefined. */
export function findBox(file: Buffer, path: string): Mp4Box | undefined {
  let found: Mp4Box | undefined;
  for (const type of path.split('/')) {
    const start = found ? found.start + (fieldsBeforeChildren[found.type] ?? 0) : 0;
    found = readBoxes(file, start, found?.end).find((box) => box.type === type);
    if (!found) return undefined;
  }
  return found;
}

/**
 * Clears the dates that the encoder stamps into a file, in place: a video made again after a restart has to be the
 * same bytes.
 */
export function clearDates(file: Buffer): Buffer {
  for (const path of ['moov/mvhd', 'moov/trak/tkhd', 'moov/trak/mdia/mdhd']) {
    const box = findBox(file, path);
    if (!box) continue;
    const bytes = file[box.start] === 1 ? 16 : 8;
    file.fill(0, box.start + 4, box.start + 4 + bytes);
  }
  return file;
}
