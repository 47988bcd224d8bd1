import { NamedError } from '#platform/errors.js';

/** The bytes are not a whole GLB file. */
class NotAnAsset extends NamedError {}

const MAGIC = Buffer.from('glTF');
/** The magic number, the version, and the length of the whole file. */
const HEADER_BYTES = 12;
const LENGTH_AT = 8;

/** Passes the bytes of a GLB file through. @throws NotAnAsset as soon as they prove to be no GLB file or an incomplete one. */
export async function* wholeGlb(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of source) {
    if (head.length < HEADER_BYTES) head = Buffer.concat([head, chunk]).subarray(0, HEADER_BYTES);
    const known = Math.min(head.length, MAGIC.length);
    if (!head.subarray(0, known).equals(MAGIC.subarray(0, known))) {
      throw new NotAnAsset('the bytes are not a GLB file');
    }
    bytes += chunk.length;
    yield chunk;
  }
  if (head.length < HEADER_BYTES) throw new NotAnAsset('too short for a GLB file');
  const announced = head.readUInt32LE(LENGTH_AT);
  if (bytes !== announced) throw new NotAnAsset(`a GLB file of ${announced} bytes came with ${bytes}`);
}
