import type { Readable } from 'node:stream';
import { ApiError } from '../errors.js';

/** This many pieces of a body may be of any size; beyond it they have to be of some length, or each costs more than it brings. */
const FREE_PIECES = 1_000;
const LEAST_PIECE_BYTES = 64;

/**
 * What is read of all bodies in one turn of the event loop: a few milliseconds' work. A connection that sends as fast as
 * it can would have megabytes read at once, and a dozen of them would keep everybody else waiting for seconds.
 */
const BYTES_PER_TURN = 512 * 1024;

/** Divides the turns of the event loop among the bodies that arrive. */
class Pace {
  private left = BYTES_PER_TURN;
  private isDue = false;
  private waiting: Readable[] = [];

  /** Counts what came, and has the body wait for a later turn when this one's part is used up. */
  took(body: Readable, bytes: number): void {
    this.left -= bytes;
    if (this.left <= 0) {
      body.pause();
      this.waiting.push(body);
    }
    this.nextTurn();
  }

  private nextTurn(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      this.left = BYTES_PER_TURN;
      for (const body of this.waiting.splice(0, BODIES_PER_TURN)) body.resume();
      if (this.waiting.length > 0) this.nextTurn();
    });
  }
}

/** Each has a piece of 64 kB at hand when it is resumed. */
const BODIES_PER_TURN = BYTES_PER_TURN / (64 * 1024);
const pace = new Pace();

/** Has a body that somebody else reads keep the pace of all. */
export function keepPace(body: Readable): void {
  body.on('data', (bytes: Buffer) => pace.took(body, bytes.length));
}

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
        pace.took(body, bytes.length);
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
      reject(new ApiError('invalid_request', 'The body is incomplete.'));
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
      `The body arrives in chunks of less than ${LEAST_PIECE_BYTES} bytes. Send larger chunks.`,
    );
  }
}
