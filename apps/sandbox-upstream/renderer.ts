import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { workerProgram } from '#platform/places.js';
import { VendorRefusal } from './answers.js';
import type { Drawing, DrawingOrder, DrawingResult } from './drawing.worker.js';
import { clearDates } from './media/mp4.js';

/** The cache of drawings: a few dozen images or a few hundred movies, so that repeated downloads cost nothing. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** The most waiting drawings. At about 40 ms each, another would wait more than ten seconds. */
const MAX_WAITING = 256;

interface Waiting {
  resolve: (bytes: Buffer) => void;
  reject: (fault: Error) => void;
}

/** Everything that determines a drawing. The image of an edit by its digest. */
function keyOf({ original, ...rest }: Drawing): string {
  const digest = original && createHash('sha256').update(original).digest('hex');
  return JSON.stringify({ ...rest, digest });
}

/** Draws images (PNG) and movies (MP4) in one worker thread, which starts with the first order. */
export class Renderer {
  private worker: Worker | undefined;
  private lastOrderId = 0;
  private readonly waiting = new Map<number, Waiting>();
  private readonly running = new Map<string, Promise<Buffer>>();
  private readonly cache = new Map<string, Buffer>();
  private cachedBytes = 0;

  /** The bytes of a drawing, the same for the same drawing. @throws VendorRefusal 503 if too many wait, 500 if it fails. */
  draw(drawing: Drawing): Promise<Buffer> {
    const key = keyOf(drawing);
    const cached = this.cache.get(key);
    if (cached) return Promise.resolve(this.remember(key, cached));
    const running = this.running.get(key);
    if (running) return running;
    const made = this.order(drawing)
      .then((bytes) => this.remember(key, drawing.kind === 'movie' ? clearDates(bytes) : bytes))
      .finally(() => this.running.delete(key));
    this.running.set(key, made);
    return made;
  }

  clear(): void {
    this.cache.clear();
    this.cachedBytes = 0;
  }

  async close(): Promise<void> {
    const worker = this.worker;
    this.abandon(new VendorRefusal(503, 'service_unavailable', 'The vendor is closing.'));
    await worker?.terminate();
  }

  private order(drawing: Drawing): Promise<Buffer> {
    if (this.waiting.size >= MAX_WAITING) {
      return Promise.reject(new VendorRefusal(503, 'service_unavailable', 'Too many drawings wait.'));
    }
    this.worker ??= this.startWorker();
    this.lastOrderId += 1;
    const order: DrawingOrder = { ...drawing, orderId: this.lastOrderId };
    this.worker.postMessage(order);
    return new Promise((resolve, reject) => this.waiting.set(order.orderId, { resolve, reject }));
  }

  private startWorker(): Worker {
    const worker = new Worker(workerProgram('apps/sandbox-upstream/drawing.worker'));
    worker.unref();
    worker.on('message', (result: DrawingResult) => this.receive(result));
    // If the worker dies, its orders fail, and the next order starts another.
    const died = (fault?: unknown) => {
      if (this.worker !== worker) return;
      this.abandon(new VendorRefusal(500, 'generation_failed', `The drawing failed: ${String(fault)}`));
    };
    worker.on('error', died);
    worker.on('exit', died);
    return worker;
  }

  private receive({ orderId, bytes, fault }: DrawingResult): void {
    const waiting = this.waiting.get(orderId);
    this.waiting.delete(orderId);
    if (bytes) waiting?.resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    else waiting?.reject(new VendorRefusal(500, 'generation_failed', `The drawing failed: ${fault}`));
  }

  private abandon(fault: VendorRefusal): void {
    this.worker = undefined;
    const abandoned = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of abandoned) reject(fault);
  }

  /** Puts a drawing last in line for eviction, and evicts from the front. */
  private remember(key: string, bytes: Buffer): Buffer {
    this.forget(key);
    this.cache.set(key, bytes);
    this.cachedBytes += bytes.length;
    for (const oldest of this.cache.keys()) {
      if (this.cachedBytes <= CACHE_BYTES) break;
      this.forget(oldest);
    }
    return bytes;
  }

  private forget(key: string): void {
    this.cachedBytes -= this.cache.get(key)?.length ?? 0;
    this.cache.delete(key);
  }
}
