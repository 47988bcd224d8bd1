import type { FastifyRequest } from 'fastify';
import { keepPace, PieceCheck } from '#platform/http/body-stream.js';
import { BytePieces } from '#platform/http/byte-pieces.js';
import { ApiError } from '#platform/errors.js';
import { LongText } from '#platform/http/long-text.js';
import { Utf8Check } from '#platform/http/utf8-check.js';
import { type Body, booleanOf, invalid } from './fields.js';
import { MAX_NAME_CHARS } from './known-fields.js';
import { boundaryOf, Delimiters } from './form-boundary.js';
import { MULTIPART } from './limits.js';

/** Stands for an uploaded file in a body, whether its bytes were kept or dropped. */
export const FILE_PART = Symbol('file');

/** An uploaded file whose bytes were kept, as they came. */
export interface FormFile {
  pieces: readonly Buffer[];
  /** The client's name, not to be trusted as a path. */
  name: string;
}

/** A part of a multipart body in the order of sending; null is a file whose bytes were dropped. */
export type FormEntry = readonly [name: string, value: unknown, file: FormFile | null];

export interface FormLimits {
  fields: number;
  fieldBytes: number;
  files: number;
  fileBytes: number;
  /** All parts together; without it only the single ones are bounded, so no file is kept. */
  keptBytes?: number;
}

/** Fields of a form that are no text: lists, sent once per value and with or without brackets, and flags. */
interface TypedFields {
  readonly lists: readonly string[];
  readonly flags: readonly string[];
}

/** A longer field is a base64 image, which is never converted to a string. */
const LONG_FIELD_BYTES = 200 * 1024;
const NO_TEXT = 'must be UTF-8 text, or a file with a filename';

/** A body of either kind, for routes that take both. @throws as readForm */
export async function anyBody(request: FastifyRequest, typed?: TypedFields): Promise<unknown> {
  return request.isMultipart() ? formBody(await readForm(request), typed) : request.body;
}

/**
 * The parts as named values. A file is FILE_PART. Names with brackets stay as sent, except those of lists. If another name is
 * sent twice, the last value counts, as with JSON.
 */
export function formBody(
  entries: readonly FormEntry[],
  { lists, flags }: TypedFields = { lists: [], flags: [] },
): Body {
  const body = Object.create(null) as Record<string, unknown>;
  for (const [sent, value] of entries) {
    const name = sent.replace(/\[\]$/, '');
    const before = body[name];
    if (lists.includes(name)) body[name] = [...(Array.isArray(before) ? before : []), value];
    else body[sent] = flags.includes(sent) ? booleanOf(value) : value;
  }
  return body;
}

/** By its header, before the body is parsed. */
export function isMultipart(request: FastifyRequest): boolean {
  return request.headers['content-type']?.trimStart().toLowerCase().startsWith('multipart/') === true;
}

const forms = new WeakMap<FastifyRequest, Promise<FormEntry[]>>();

/**
 * Every part of a multipart body, within the limits of the route. Repeated calls return the same parts.
 * @throws ApiError invalid_multipart, invalid_value, request_too_large, upload_too_slow, rate_limit_exceeded
 */
export function readForm(request: FastifyRequest): Promise<FormEntry[]> {
  let form = forms.get(request);
  if (!form) {
    const limits = request.routeOptions.config.multipart ?? MULTIPART;
    const tooMany = Promise.withResolvers<never>();
    const parts = readParts(request, limits, () => tooMany.reject(tooLarge(limits)));
    parts.catch(() => undefined);
    form = Promise.race([parts, tooMany.promise, ...(request.upload ? [request.upload.failure] : [])]);
    forms.set(request, form);
  }
  return form;
}

async function readParts(
  request: FastifyRequest,
  limits: FormLimits,
  onTooMany: () => void,
): Promise<FormEntry[]> {
  let areTooMany = false;
  const form = new Form(limits, (bytes) => {
    if (areTooMany) throw tooLarge(limits);
    request.memory?.add(bytes);
  });
  // The client left before the body was read. Reading would never end, and the call would stay in progress.
  if (request.raw.destroyed) throw new ApiError('invalid_multipart', 'The multipart body is incomplete.');
  try {
    const { fields, files } = limits;
    const parts = fields + files;
    const fileSize = Math.max(limits.fieldBytes, limits.fileBytes);
    const boundary = boundaryOf(request);
    refuseCrumbs(request);
    dropBeyond(request, new Delimiters(boundary, parts), () => {
      areTooMany = true;
      onTooMany();
    });
    keepPace(request.raw);
    const options = {
      // The parser gets the same boundary.
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      limits: { fields, files: parts, parts, fileSize },
      // Everything is read as a file: fields would be converted to strings, and parsed if they claim to be JSON.
      isPartAFile: () => true,
    };
    for await (const part of request.parts(options)) {
      if (part.type !== 'file') throw tooLarge(limits);
      // The library's types know neither that fields have no name of a file, nor that a part may have no name at all.
      const [name, filename] = [part.fieldname, part.filename] as (string | undefined)[];
      if (name === undefined)
        throw new ApiError('invalid_multipart', 'A part of the multipart body has no name.');
      if (filename === undefined && part.mimetype !== 'application/octet-stream')
        await form.addField(name, part.file);
      else await form.addFile(name, filename ?? '', part.file);
    }
  } catch (error) {
    throw multipartFault(error, limits);
  }
  return form.entries;
}

function refuseCrumbs({ raw }: FastifyRequest): void {
  const pieces = new PieceCheck();
  raw.on('data', (bytes: Buffer) => {
    try {
      pieces.count(bytes.length);
    } catch {
      raw.socket.destroy();
    }
  });
}

/** The parser walks through every part, also after its limit: what comes with one too many is overwritten before it sees it. */
function dropBeyond({ raw }: FastifyRequest, delimiters: Delimiters, onTooMany: () => void): void {
  raw.on('data', (bytes: Buffer) => {
    if (!delimiters.areBeyond(bytes)) return;
    bytes.fill(0);
    onTooMany();
  });
}

type FileStream = AsyncIterable<Buffer> & { truncated: boolean };

class Form {
  readonly entries: FormEntry[] = [];
  private keptBytes = 0;
  private fields = 0;
  private files = 0;

  constructor(
    private readonly limits: FormLimits,
    private readonly onKept: (bytes: number) => void,
  ) {}

  async addField(name: string, stream: FileStream): Promise<void> {
    this.fields += 1;
    if (this.fields > this.limits.fields) throw tooLarge(this.limits);
    const pieces = await this.read(stream, this.limits.fieldBytes);
    const { list, length } = pieces;
    // Decoding would replace invalid bytes, and the sender would pay for a different prompt.
    if (!areUtf8(list)) throw invalid(name.slice(0, MAX_NAME_CHARS), NO_TEXT);
    const isLong = length > LONG_FIELD_BYTES;
    this.entries.push([name, isLong ? new LongText(list, length, false) : textOf(list), null]);
  }

  async addFile(field: string, name: string, stream: FileStream): Promise<void> {
    this.files += 1;
    if (this.files > this.limits.files) throw tooLarge(this.limits);
    const isKept = this.limits.keptBytes !== undefined;
    const pieces = await this.read(stream, this.limits.fileBytes, isKept);
    this.entries.push([field, FILE_PART, isKept ? { pieces: pieces.list, name } : null]);
  }

  private async read(stream: FileStream, mostBytes: number, isKept = true): Promise<BytePieces> {
    const pieces = new BytePieces();
    let bytes = 0;
    for await (const part of stream) {
      bytes += part.length;
      if (bytes > mostBytes) throw tooLarge(this.limits);
      if (!isKept) continue;
      this.count(part.length);
      pieces.add(part);
    }
    if (stream.truncated) throw tooLarge(this.limits);
    return pieces;
  }

  private count(bytes: number): void {
    this.keptBytes += bytes;
    this.onKept(bytes);
    if (this.keptBytes > (this.limits.keptBytes ?? Infinity)) throw tooLarge(this.limits);
  }
}

function areUtf8(pieces: readonly Buffer[]): boolean {
  const check = new Utf8Check();
  return pieces.every((piece) => check.push(piece)) && check.end();
}

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('utf8');
}

function multipartFault(error: unknown, limits: FormLimits): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (statusCode === 413 || code?.endsWith('_LIMIT')) return tooLarge(limits, error);
  return new ApiError('invalid_multipart', 'The multipart body could not be read.', { cause: error });
}

function tooLarge(
  { fields, files, fieldBytes, fileBytes, keptBytes }: FormLimits,
  cause?: unknown,
): ApiError {
  const parts = `${fields} fields of ${fieldBytes} bytes and ${files} files of ${fileBytes} bytes`;
  const all = keptBytes === undefined ? '' : `, ${keptBytes} bytes together`;
  return new ApiError('request_too_large', `A multipart body can have at most ${parts}${all}.`, { cause });
}
