/** PCM, floats, and the two telephone codes: each sample has the bits that the header says. */
const PLAIN_CODES = [1, 3, 6, 7];
/** The code is in the extension of the format, where it begins. */
const EXTENSIBLE = 0xfffe;
const EXTENSION_AT = 24;

/**
 * The length of a WAV file of samples, in seconds; null for what is compressed or not understood. All the bytes behind the
 * head of the data count, whatever length it states: a decoder plays no more of them.
 */
export function wavSeconds(head: Buffer, fileBytes: number): number | null {
  let bytesPerSecond: number | null = null;
  for (let at = 12; at + 8 <= head.length;) {
    const id = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const content = at + 8;
    if (id === 'data') return bytesPerSecond === null ? null : (fileBytes - content) / bytesPerSecond;
    if (id === 'fmt ') bytesPerSecond = rateOf(head.subarray(content, content + size));
    at = content + size + (size % 2);
  }
  return null;
}

function rateOf(format: Buffer): number | null {
  if (format.length < 16) return null;
  const stated = format.readUInt16LE(0);
  const isExtended = stated === EXTENSIBLE && format.length >= EXTENSION_AT + 2;
  const code = isExtended ? format.readUInt16LE(EXTENSION_AT) : stated;
  const rate = (format.readUInt16LE(2) * format.readUInt32LE(4) * format.readUInt16LE(14)) / 8;
  return PLAIN_CODES.includes(code) && rate > 0 ? rate : null;
}
