import { createHash, type Hash } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { LongText } from '#platform/http/long-text.js';
import { type FormEntry, readForm } from '../http/multipart-body.js';

/** How much is hashed before others have their turn: about a millisecond of work. */
const BYTES_AT_ONCE = 1024 * 1024;
const VALUES_AT_ONCE = 2_000;

/** What is hashed last, since it may be many megabytes. */
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
  await content.add([request.method, path.replace(/\/+$/, '')]);
  if (fields === undefined) await content.add(request.body);
  else for (const entry of fields) await content.addEntry(entry);
  return content.digest();
}

/** The name of an object's member, which comes before its value. */
class Name {
  constructor(readonly text: string) {}
}

/** Every value starts with its type and length, so that different contents never give the same bytes. */
class Content {
  private readonly hash: Hash = createHash('sha256');
  private readonly later: Later[] = [];
  /** What is hashed next. A call for each value would cost more than the hash. */
  private text = '';

  async addEntry([name, value, file]: FormEntry): Promise<void> {
    await this.add([name, file ? null : value]);
    if (!file) return;
    const bytes = file.pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.addLater({ kind: 'file', bytes, pieces: file.pieces });
  }

  /** Adds a value with everything in it. Others have their turn in between: a body may contain a hundred thousand. */
  async add(value: unknown): Promise<void> {
    const left = [value];
    let added = 0;
    while (left.length > 0) {
      this.addOne(left.pop(), left);
      added += 1;
      if (added < VALUES_AT_ONCE && this.text.length < BYTES_AT_ONCE) continue;
      added = 0;
      this.hashText();
      await pause();
    }
  }

  async digest(): Promise<Buffer> {
    this.hashText();
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

  /** @param left gets what is in the value: the last is added next */
  private addOne(value: unknown, left: unknown[]): void {
    if (typeof value === 'string') this.addText('text', value);
    else if (value instanceof Name) this.addText('name', value.text);
    else if (value instanceof LongText)
      this.addLater({ kind: 'long text', bytes: value.byteLength, pieces: value.pieces });
    else if (Array.isArray(value)) {
      this.text += `list ${value.length}\n`;
      for (const item of value.toReversed()) left.push(item);
    } else if (typeof value === 'object' && value !== null) {
      const names = Object.keys(value).sort();
      this.text += `object ${names.length}\n`;
      for (const name of names.reverse()) left.push((value as Record<string, unknown>)[name], new Name(name));
    } else this.text += `${typeof value} ${String(value)}\n`;
  }

  private addText(kind: string, text: string): void {
    this.text += `${kind} ${Buffer.byteLength(text)}\n${text}`;
  }

  private hashText(): void {
    this.hash.update(this.text);
    this.text = '';
  }

  /** Its place is hashed now, its content at the end. */
  private addLater(later: Later): void {
    this.text += `later ${this.later.length}\n`;
    this.later.push(later);
  }
}
