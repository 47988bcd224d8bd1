import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import type { Body } from './fields.js';
import { MULTIPART } from './limits.js';

/** Stands for an uploaded file in a body: its bytes are read and dropped, since no path of today takes one. */
export const FILE_PART = Symbol('file');

/**
 * Reads a multipart body into named values, all text; a file becomes FILE_PART. Bracket names stay as they were sent.
 * Of a name sent twice the last value counts, as with JSON. @throws ApiError invalid_multipart, request_too_large
 */
export async function readMultipart(request: FastifyRequest): Promise<Body> {
  const body = Object.create(null) as Record<string, unknown>;
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') {
        part.file.resume();
        await new Promise((resolve, reject) => part.file.once('end', resolve).once('error', reject));
        if (part.file.truncated) throw tooLarge();
        body[part.fieldname] = FILE_PART;
      } else {
        if (part.valueTruncated || part.fieldnameTruncated) throw tooLarge();
        body[part.fieldname] = part.value;
      }
    }
  } catch (error) {
    throw multipartFault(error);
  }
  return body;
}

function multipartFault(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (statusCode === 413 || code?.endsWith('_LIMIT')) return tooLarge(error);
  return new ApiError('invalid_multipart', 'The multipart body could not be read.', { cause: error });
}

function tooLarge(cause?: unknown): ApiError {
  const { fields, files, fieldBytes, fileBytes } = MULTIPART;
  return new ApiError(
    'request_too_large',
    `A multipart body has at most ${fields} fields of ${fieldBytes} bytes and ${files} files of ${fileBytes} bytes.`,
    { cause },
  );
}
