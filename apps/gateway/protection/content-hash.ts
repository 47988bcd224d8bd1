import { createHash, type Hash } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { LongText } from '#platform/http/long-text.js';
import { type FormEntry, readForm } from '../http/multipart-body.js';

/** How much of long texts and files is hashed at a time: about a millisecond of work. */
const BYTES_AT_ONCE = 1024 * 1024;

/** What is hashed last: bytes that would block the event loop. */
type Later = { kind: string; bytes: number; pieces: Iterable<Buffer> };

/**
 * SHA-256 of a request: its path and its parsed fields, with the bytes of its files. The order of JSON members, white space
 * and the boundaries of a form make no difference; a long text counts as the bytes that were sent. Reads the form of a
 * multipart request. @throws ApiError like the reader of the form
 */
export async function contentHash(request: FastifyRequest): Promise<Buffer> {
  const path = request.url.split('?', 1)[0] ?? '';
  const fields = request.isMultipart() ? await readForm(request) : undefined;
  const content = new Content();
  content.add([request.method, path.replace(/\/+$/, '')]);
  if (fields === undefined) content.add(request.body);
  else for (const entry of fields) content.addEntry(entry);
  return content.digest();
}

/** Every value starts with its type and length, so that different contents never give the same bytes. */
class Content {
  private readonly hash: Hash = createHash('sha256');
  private readonly later: Later[] = [];

  addEntry([name, value, file]: FormEntry): void {
    this.add([name, file ? null : value]);
    if (!file) return;
    const bytes = file.pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.addLater({ kind: 'file', bytes, pieces: file.pieces });
  }

  /** A body's depth is bounded where it is read. */
  add(value: unknown): void {
    if (typeof value === 'string') this.addText('text', value);
    else if (value instanceof LongText)
      this.addLater({ kind: 'long text', bytes: value.byteLength, pieces: value.pieces });
    else if (Array.isArray(value)) {
      this.hash.update(`list ${value.length}\n`);
      for (const item of value) this.add(item);
    } else if (typeof value === 'object' && value !== null) this.addMembers(value);
    else this.hash.update(`${typeof value} ${String(value)}\n`);
  }

  async digest(): Promise<Buffer> {
    let atOnce = 0;
    for (const { kind, bytes, pieces } of this.later) {
      this.hash.update(`${kind} ${bytes}\n`);
      for (const piece of pieces) {
        this.hash.update(piece);
        atOnce += piece.length;
        if (atOnce < BYTES_AT_ONCE) continue;
        atOnce = 0;
        await pause();
      }
    }
    return this.hash.digest();
  }

  private addMembers(value: object): void {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    this.hash.update(`object ${members.length}\n`);
    for (const [name, member] of members) {
      this.addText('name', name);
      this.add(member);
    }
  }

  private addText(kind: string, text: string): void {
    this.hash.update(`${kind} ${Buffer.byteLength(text)}\n`).update(text);
  }

  /** Its place is hashed now, its content at the end. */
  private addLater(later: Later): void {
    this.hash.update(`later ${this.later.length}\n`);
    this.later.push(later);
  }
}
