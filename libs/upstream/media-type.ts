export interface MediaType {
  mime: string;
  extension: string;
}

const signatures: readonly (MediaType & { at: number; bytes: Buffer })[] = [
  { mime: 'image/png', extension: 'png', at: 0, bytes: Buffer.from('89504e470d0a1a0a', 'hex') },
  { mime: 'image/jpeg', extension: 'jpg', at: 0, bytes: Buffer.from('ffd8ff', 'hex') },
  { mime: 'image/gif', extension: 'gif', at: 0, bytes: Buffer.from('GIF8') },
  { mime: 'image/webp', extension: 'webp', at: 8, bytes: Buffer.from('WEBP') },
  { mime: 'video/mp4', extension: 'mp4', at: 4, bytes: Buffer.from('ftyp') },
];

/** The actual type of a file by its first bytes, whatever its sender called it; null if it is none of ours. */
export function sniffMediaType(head: Buffer): MediaType | null {
  const found = signatures.find(({ at, bytes }) => head.subarray(at, at + bytes.length).equals(bytes));
  return found ? { mime: found.mime, extension: found.extension } : null;
}
