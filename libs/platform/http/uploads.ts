import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { ConfigReader } from '../config.js';
import { ApiError } from '../errors.js';
import { Gauge, type Registry } from '../metrics.js';

const KILOBYTE = 1024;

/** Reads the rules of a program's environment. */
export function readUploadRules(reader: ConfigReader) {
  return {
    /** How long a body may take, whatever its pace. */
    graceMs: reader.get('UPLOAD_GRACE_SECONDS'),
    /** And then this many bytes must have come for every second since its beginning. */
    leastBytesPerSecond: KILOBYTE * reader.get('UPLOAD_LEAST_KILOBYTES_PER_SECOND'),
    /** Bodies that one member may have in progress at the same time. */
    perMember: reader.get('UPLOADS_PER_ACCOUNT'),
  };
}

export type UploadRules = Readonly<ReturnType<typeof readUploadRules>>;

export interface UploadOptions {
  readonly rules: UploadRules;
  readonly registry: Registry;
  /** Names the gauge: the program. */
  readonly program: string;
  /** Who sends, as they are counted: an account, or a person and an address. */
  membersOf: (request: FastifyRequest) => readonly string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body on its way, on requests that have one. */
    upload: Upload | null;
    /** Why the body was not read to its end: thrown before the handler is called. */
    bodyFault: unknown;
  }
}

/** Bodies of at most this length arrive with their head or soon after: they are watched, and not counted. */
const SMALL_BODY_BYTES = 64 * 1024;
const CHECK_INTERVAL_MS = 250;
const RETRY_AFTER_SECONDS = 2;
/** An answer before the end of the body reaches a client that is still sending; then its connection is closed. */
const LINGER_MS = 2_000;

/** A body that has not arrived whole. */
export class Upload {
  readonly startedMs = performance.now();
  private readonly startedBytes: number;
  private readonly failing = Promise.withResolvers<never>();
  /** Rejects when the body comes too slowly. */
  readonly failure = this.failing.promise;

  constructor(
    readonly raw: IncomingMessage,
    readonly members: readonly string[],
  ) {
    this.startedBytes = raw.socket.bytesRead;
    this.failure.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.raw.complete || this.raw.destroyed || this.raw.socket.destroyed;
  }

  isTooSlow({ graceMs, leastBytesPerSecond }: UploadRules): boolean {
    const tookMs = performance.now() - this.startedMs;
    const bytes = this.raw.socket.bytesRead - this.startedBytes;
    return tookMs > graceMs && bytes < (leastBytesPerSecond * tookMs) / 1000;
  }

  fail(fault: Error): void {
    this.failing.reject(fault);
  }
}

/**
 * Watches the bodies that are on their way, by the bytes that their connections have received: a body has to come at a
 * least rate, and nobody has more than that many in progress. What is read of a body, and where it is kept, is up to others.
 */
export class Uploads {
  private readonly open = new Set<Upload>();
  private readonly counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: UploadOptions) {
    const open = () => this.open.size;
    new Gauge({
      name: `${options.program}_open_uploads`,
      help: 'Request bodies still arriving',
      registers: [options.registry],
      collect() {
        this.set(open());
      },
    });
  }

  /** Hooks itself into a server behind what knows who calls. */
  install(server: FastifyInstance): void {
    server.decorateRequest('upload', null);
    server.decorateRequest('bodyFault', null);
    server.addHook('onRequest', (request, _reply, done) => {
      this.begin(request);
      done();
    });
    server.addHook('preValidation', (request, _reply, done) =>
      done((request.bodyFault as Error | null) ?? undefined),
    );
    server.addHook('onResponse', (request, reply, done) => {
      closeUnread(request, reply);
      done();
    });
  }

  /** @throws ApiError rate_limit_exceeded */
  private begin(request: FastifyRequest): void {
    const announced = request.headers['content-length'];
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    if (request.raw.complete || (!isChunked && Number(announced ?? 0) === 0)) return;
    const isSmall = !isChunked && Number(announced) <= SMALL_BODY_BYTES;
    const upload = new Upload(request.raw, isSmall ? [] : this.options.membersOf(request));
    for (const member of upload.members) {
      if ((this.counts.get(member) ?? 0) >= this.options.rules.perMember) throw this.tooMany();
    }
    request.upload = upload;
    for (const member of upload.members) this.counts.set(member, (this.counts.get(member) ?? 0) + 1);
    this.open.add(upload);
    const end = () => this.end(upload);
    request.raw.once('end', end).once('close', end);
    this.timer ??= setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
  }

  private check(): void {
    const { rules } = this.options;
    for (const upload of this.open) {
      if (upload.isOver) this.end(upload);
      else if (upload.isTooSlow(rules)) {
        this.end(upload);
        upload.fail(tooSlow(rules));
        // Its answer is on its way; a connection on which nobody answers is closed all the same.
        setTimeout(() => upload.isOver || upload.raw.socket.destroy(), LINGER_MS).unref();
      }
    }
    if (this.open.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private end(upload: Upload): void {
    if (!this.open.delete(upload)) return;
    for (const member of upload.members) {
      const left = (this.counts.get(member) ?? 1) - 1;
      if (left === 0) this.counts.delete(member);
      else this.counts.set(member, left);
    }
  }

  private tooMany(): ApiError {
    const message = `At most ${this.options.rules.perMember} large bodies may arrive at once. Wait until one has arrived.`;
    return new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/** What comes of a body that is answered already is dropped, and only for the moment that its client needs to read the answer. */
function closeUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete || raw.destroyed) return;
  const { socket } = raw;
  raw.resume();
  const close = setTimeout(() => raw.complete || socket.destroy(), LINGER_MS).unref();
  reply.raw.socket?.once('close', () => clearTimeout(close));
}

function tooSlow({ leastBytesPerSecond }: UploadRules): ApiError {
  const rate = Math.ceil(leastBytesPerSecond / KILOBYTE);
  return new ApiError('upload_too_slow', `The body arrives too slowly: send at least ${rate} kB/s.`);
}
