import { createHash, type Hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { type FormEntry, readForm } from '../http/multipart-body.js';

/** Deeper than any request of a client; a stack has an end. */
const MAX_DEPTH = 200;

/**
 * SHA-256 of what a request asks for: its path and its parsed fields, with the bytes of its files. The order of JSON
 * members, white space and the boundaries of a form make no difference. Reads the form of a multipart request.
 * @throws ApiError as the reading of the form, and invalid_json for a body that is nested too deeply
 */
export async function contentHash(request: FastifyRequest): Promise<Buffer> {
  const path = request.url.split('?', 1)[0] ?? '';
  const fields = request.isMultipart() ? await readForm(request) : undefined;
  const hash = createHash('sha256');
  addValue(hash, [request.method, path.replace(/\/+$/, '')], 0);
  if (fields === undefined) addValue(hash, request.body, 0);
  else for (const entry of fields) addEntry(hash, entry);
  return hash.digest();
}

function addEntry(hash: Hash, [name, value, file]: FormEntry): void {
  addValue(hash, [name, file ? null : value], 0);
  if (file) addText(hash, 'file', file.bytes);
}

/** Every value starts with its kind and its length, so that no two contents give the same bytes. */
function addValue(hash: Hash, value: unknown, depth: number): void {
  if (depth > MAX_DEPTH) {
    throw new ApiError('invalid_json', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (typeof value === 'string') return addText(hash, 'text', value);
  if (Array.isArray(value)) {
    hash.update(`list ${value.length}\n`);
    for (const item of value) addValue(hash, item, depth + 1);
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    hash.update(`object ${members.length}\n`);
    for (const [name, member] of members) {
      addText(hash, 'name', name);
      addValue(hash, member, depth + 1);
    }
  } else {
    hash.update(`${typeof value} ${String(value)}\n`);
  }
}

function addText(hash: Hash, kind: string, bytes: string | Buffer): void {
  hash.update(`${kind} ${Buffer.byteLength(bytes)}\n`).update(bytes);
}
