import type { Readable } from 'node:stream';
import { ApiError } from '../errors.js';

/** This many pieces of a body may have any size. Further ones need a minimum length, or each would cost more than it brings. */
const FREE_PIECES = 1_000;
const LEAST_PIECE_BYTES = 64;

/**
 * What is read from all bodies in one turn of the event loop: a few milliseconds of work. Otherwise, megabytes of one
 * fast connection would be read at once, and a dozen of them would delay everyone else by seconds.
 */
const BYTES_PER_TURN = 512 * 1024;

/** Divides the turns of the event loop among the arriving bodies. */
class Pace {
  private left = BYTES_PER_TURN;
  private isDue = false;
  private waiting: Readable[] = [];

  /** Counts what arrived, and makes the body wait for a later turn when this one's part is used up. */
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

/** Each has a piece of 64 kB ready when it is resumed. */
const BODIES_PER_TURN = BYTES_PER_TURN / (64 * 1024);
const pace = new Pace();

/** Makes a body with another reader keep the common pace. */
export function keepPace(body: Readable): void {
  body.on('data', (bytes: Buffer) => pace.took(body, bytes.length));
}

/** Passes on the bytes of a body as they arrive, until it ends. @throws ApiError invalid_request, and what `take` throws */
export function receiveBody(body: Readable, take: (bytes: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const pieces = new PieceCheck();
    const leave = () => {
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      // The rest has to be read, or the connection could not be used for an answer.
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

/** Refuses a body in tiny pieces, because every chunk costs work, whatever its length. */
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
