import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import type { Body } from './fields.js';
import { MULTIPART } from './limits.js';

/** Stands for an uploaded file in a body, whether its bytes were kept or dropped. */
export const FILE_PART = Symbol('file');

/** An uploaded file whose bytes were kept. */
export interface FormFile {
  bytes: Buffer;
  /** As the client named it: not to be trusted as a path. */
  name: string;
}

/** A part of a multipart body in the order of sending; null stands for a file whose bytes were dropped. */
export type FormEntry = readonly [name: string, value: unknown, file: FormFile | null];

export interface FormLimits {
  fields: number;
  fieldBytes: number;
  files: number;
  fileBytes: number;
  /** All parts together; without it only the single ones are bounded, so no file is kept. */
  keptBytes?: number;
}

/**
 * Reads a multipart body into named values, all text; a file becomes FILE_PART and its bytes are dropped. Bracket names
 * stay as they were sent. Of a name sent twice the last value counts, as with JSON. @throws as readForm
 */
export async function readMultipart(request: FastifyRequest): Promise<Body> {
  return bodyOf(await readForm(request));
}

/** The parts as named values. */
export function bodyOf(entries: readonly FormEntry[]): Body {
  const body = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) body[name] = value;
  return body;
}

/** By its header, which tells before the body is parsed. */
export function isMultipart(request: FastifyRequest): boolean {
  return request.headers['content-type']?.trimStart().toLowerCase().startsWith('multipart/') === true;
}

const forms = new WeakMap<FastifyRequest, Promise<FormEntry[]>>();

/**
 * Every part of a multipart body, within the limits of the route; whoever asks again gets the same parts.
 * @throws ApiError invalid_multipart, request_too_large
 */
export function readForm(request: FastifyRequest): Promise<FormEntry[]> {
  let form = forms.get(request);
  if (!form) {
    form = readParts(request, request.routeOptions.config.multipart ?? MULTIPART);
    forms.set(request, form);
  }
  return form;
}

async function readParts(request: FastifyRequest, limits: FormLimits): Promise<FormEntry[]> {
  const form = new Form(limits, (bytes) => request.memory?.received(bytes));
  try {
    const { fields, files } = limits;
    const parserLimits = { fields, files, parts: fields + files };
    const sizes = { fieldSize: limits.fieldBytes, fileSize: limits.fileBytes };
    for await (const part of request.parts({ limits: { ...parserLimits, ...sizes } })) {
      if (part.type === 'file') {
        await form.addFile(part.fieldname, part.filename, part.file);
      } else {
        if (part.valueTruncated || part.fieldnameTruncated) throw tooLarge(limits);
        form.addField(part.fieldname, part.value);
      }
    }
  } catch (error) {
    throw multipartFault(error, limits);
  }
  request.memory?.check();
  return form.entries;
}

type FileStream = AsyncIterable<Buffer> & { truncated: boolean };

class Form {
  readonly entries: FormEntry[] = [];
  private keptBytes = 0;

  constructor(
    private readonly limits: FormLimits,
    private readonly onKept: (bytes: number) => void,
  ) {}

  addField(name: string, value: unknown): void {
    if (typeof value === 'string') this.count(value.length);
    this.entries.push([name, value, null]);
  }

  async addFile(field: string, name: string, stream: FileStream): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) {
      if (this.limits.keptBytes === undefined) continue;
      this.count(chunk.length);
      chunks.push(chunk);
    }
    if (stream.truncated) throw tooLarge(this.limits);
    const kept = this.limits.keptBytes === undefined ? null : { bytes: Buffer.concat(chunks), name };
    this.entries.push([field, FILE_PART, kept]);
  }

  private count(bytes: number): void {
    this.keptBytes += bytes;
    this.onKept(bytes);
    if (this.keptBytes > (this.limits.keptBytes ?? Infinity)) throw tooLarge(this.limits);
  }
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
  const all = keptBytes === undefined ? '' : `, ${keptBytes} bytes in all`;
  return new ApiError('request_too_large', `A multipart body has at most ${parts}${all}.`, { cause });
}
