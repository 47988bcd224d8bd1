import { randomUUID } from 'node:crypto';
import type { CallBody } from '../channel-calls.js';
import type { ImageEditRequest, InputImage } from '../outcomes.js';

/**
 * An edit as the form that OpenAI takes: scalars as text, one image as `image`, several as `image[]`, and the mask. The
 * images stay where they are: the form is the pieces around them.
 */
export function editForm(
  fields: Record<string, unknown>,
  { images, mask }: Pick<ImageEditRequest, 'images' | 'mask'>,
): CallBody {
  const boundary = `form-${randomUUID()}`;
  const pieces: Buffer[] = [];
  const add = (head: string, content: Buffer) =>
    pieces.push(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      content,
      LINE_END,
    );
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    add(`name="${escaped(name)}"`, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  }
  const file = (field: string, { name, mime, bytes }: InputImage) =>
    add(`name="${field}"; filename="${escaped(name)}"\r\nContent-Type: ${mime}`, bytes);
  for (const image of images) file(images.length === 1 ? 'image' : 'image[]', image);
  if (mask) file('mask', mask);
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  const byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { written: { byteLength, pieces }, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** As browsers escape names in forms. */
function escaped(name: string): string {
  return name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

const LINE_END = Buffer.from('\r\n');
