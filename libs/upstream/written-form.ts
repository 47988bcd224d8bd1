import { randomUUID } from 'node:crypto';
import type { CallBody } from './channel-calls.js';
import type { SentFile } from './outcomes.js';

/**
 * A form: scalars as text, lists as fields of one name with brackets, then the files by their field names. The files
 * are not copied: the form consists of the pieces around them.
 */
export function writtenForm(
  fields: Record<string, unknown>,
  files: readonly (readonly [field: string, file: SentFile])[],
): CallBody {
  const boundary = `form-${randomUUID()}`;
  const pieces: Buffer[] = [];
  const add = (head: string, content: readonly Buffer[]) => {
    pieces.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`));
    pieces.push(...content, LINE_END);
  };
  for (const [name, value] of Object.entries(fields).flatMap(eachOfList)) {
    if (value === undefined || value === null) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    add(`name="${escaped(name)}"`, [Buffer.from(text)]);
  }
  for (const [field, { name, mime, pieces: content }] of files) {
    add(`name="${field}"; filename="${escaped(name)}"\r\nContent-Type: ${mime}`, content);
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  const byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { written: { byteLength, pieces }, contentType: `multipart/form-data; boundary=${boundary}` };
}

function eachOfList([name, value]: [string, unknown]): [string, unknown][] {
  return Array.isArray(value) ? value.map((each: unknown) => [`${name}[]`, each]) : [[name, value]];
}

/** As browsers escape names in forms. */
function escaped(name: string): string {
  return name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

const LINE_END = Buffer.from('\r\n');
