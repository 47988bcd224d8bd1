import type { Readable } from 'node:stream';
import { ApiError } from './errors.js';

/** So many pieces of a body may be of any size; beyond it they have to be of some length, or each costs more than it brings. */
const FREE_PIECES = 1_000;
const LEAST_PIECE_BYTES = 64;

/** Hands the bytes of a body on as they arrive, until it ends. @throws ApiError invalid_request, and what `take` throws */
export function receiveBody(body: Readable, take: (bytes: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const pieces = new PieceCheck();
    const leave = () => {
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      // Somebody has to read what still comes, or the connection could not be used for an answer.
      body.on('error', () => undefined).resume();
    };
    const onData = (bytes: Buffer) => {
      try {
        pieces.count(bytes.length);
        take(bytes);
      } catch (error) {
        leave();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const onEnd = () => {
      leave();
      resolve();
    };
    const onBroken = () => {
      leave();
      reject(new ApiError('invalid_request', 'The body did not arrive whole.'));
    };
    body.on('data', onData).once('end', onEnd).once('error', onBroken).once('close', onBroken);
  });
}

/** Refuses a body that comes in crumbs: every piece of a chunked body is work of its own, whatever its length. */
export class PieceCheck {
  private pieces = 0;
  private bytes = 0;

  /** @throws ApiError invalid_request */
  count(bytes: number): void {
    this.pieces += 1;
    this.bytes += bytes;
    if (this.pieces <= FREE_PIECES || this.bytes >= this.pieces * LEAST_PIECE_BYTES) return;
    throw new ApiError(
      'invalid_request',
      `The body comes in pieces of less than ${LEAST_PIECE_BYTES} bytes. Send it in larger ones.`,
    );
  }
}
