import type { IncomingMessage } from 'node:http';
import { VendorRefusal } from './answers.js';
import type { Fault } from './directives.js';
import { type Exchange, pause, type Vendor } from './vendor.js';

export interface Parcel {
  bytes: Buffer;
  contentType: string;
  faults: readonly Fault[];
}

/** The pieces of a file that is sent slowly. */
const PIECES = 20;
const NOT_A_FILE = Buffer.from('<!doctype html><title>This is not the file that was asked for</title>\n');

/** More files than any test downloads at the same time. */
const MAX_COUNTED = 1_000;

/** Counts a download of a file. @returns how many there were before, as far as that is known */
export function countDownload({ downloadsOf }: Pick<Vendor, 'downloadsOf'>, file: string): number {
  const earlier = downloadsOf.get(file) ?? 0;
  downloadsOf.set(file, earlier + 1);
  if (downloadsOf.size > MAX_COUNTED) downloadsOf.delete([...downloadsOf.keys()][0] ?? '');
  return earlier;
}

/** An answer to a create does not count as a download. */
function isEarly(vendor: Vendor, { method, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && countDownload(vendor, url) === 0;
}

/** Sends a file or an answer completely, or with the fault that its prompt requests: slowly, cut off, or as another type. */
export async function deliver(
  vendor: Vendor,
  { request, response }: Exchange,
  parcel: Parcel,
): Promise<void> {
  if (parcel.faults.includes('late-file') && isEarly(vendor, request)) {
    throw new VendorRefusal(503, 'service_unavailable', 'The file is not there yet, as ordered.');
  }
  const bytes = parcel.faults.includes('bad-file') ? NOT_A_FILE : parcel.bytes;
  response.writeHead(200, { 'content-type': parcel.contentType, 'content-length': bytes.length });
  if (request.method === 'HEAD') response.end();
  else if (parcel.faults.includes('truncated')) {
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
  } else if (parcel.faults.includes('slow-bytes')) {
    const step = Math.ceil(bytes.length / PIECES);
    for (let at = 0; at < bytes.length && !response.destroyed; at += step) {
      response.write(bytes.subarray(at, at + step));
      await pause(vendor, vendor.settings.slowMs / PIECES);
    }
    response.end();
  } else response.end(bytes);
}
