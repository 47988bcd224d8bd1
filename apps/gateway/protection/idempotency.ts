import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { chargeIdsOf } from '#ledger/charges/charge-ids.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { FileStore } from '#storage/file-store.js';
import { isTurnedAway, type Task } from '#tasks/task.js';
import type { TaskStore } from '#tasks/task.store.js';
import { nameRequest } from '../http/request-name.js';
import { type Claim, isFinal, newClaim } from './claim.js';
import { contentHash } from './content-hash.js';
import { checkedKeyName, otherContent, stillRunning, unknownOutcome } from './idempotency.errors.js';
import type { IdempotencyStore, KeptAnswer, KeyedRecord, KeyedRequest } from './idempotency.store.js';
import { KeptAnswers, MAX_ANSWER_BYTES } from './kept-answers.js';
import { headersToKeep, recordResponse, type SentAnswer } from './recording.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The hold on the request's Idempotency-Key, on the request that does the work. */
    claim: Claim | null;
    /** What the first request under the Idempotency-Key of this one made, if its gateway died: the answer to this one. */
    earlierTask: Task | null;
  }
}

/** What an earlier request under the same key came to. */
interface Earlier {
  readonly chargeId: string;
  readonly outcome: KeptAnswer | Task;
}

export interface IdempotencyParts {
  store: IdempotencyStore;
  files: FileStore;
  tasks: TaskStore;
  log: Logger;
  /** How long answers are stored, from the first request. */
  lifeMs: number;
  /** How long a dead gateway still counts as working. */
  leaseMs: number;
}

const HEADER = 'idempotency-key';
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;
const PURGE_INTERVAL_MS = 60_000;
const MAX_PURGED = 500;

/**
 * Idempotency-Key on the routes that cost money: the first request under a key works, every other one with
 * the same content gets its answer, also while it is being made and from another gateway. Only what is final is kept; a
 * request that was turned away before or without a charge frees its key. A gateway that died leaves its row with the
 * charge of the request. The task of the last of its models that got so far is answered, unless all of them were turned
 * away: then the key is free again. Anything else is an error. Nothing that an upstream may have accepted is sent a second time.
 */
export class Idempotency {
  private readonly atWork = new Map<string, Claim>();
  private readonly storing = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private readonly renewal: Loop;
  private readonly purge: Loop;
  private readonly answers: KeptAnswers;

  constructor(private readonly parts: IdempotencyParts) {
    const { log, leaseMs, files } = parts;
    this.answers = new KeptAnswers(files);
    const renewal = { name: 'idempotency leases', intervalMs: leaseMs / 3, log };
    this.renewal = new Loop({ ...renewal, round: () => this.renew() });
    const purge = { name: 'expired idempotency keys', intervalMs: PURGE_INTERVAL_MS, log };
    this.purge = new Loop({ ...purge, round: () => this.purgeExpired() });
  }

  start(): void {
    this.renewal.start();
    this.purge.start();
  }

  /** Call it once no request is in progress. */
  async stop(): Promise<void> {
    await Promise.all([this.renewal.stop(), this.purge.stop()]);
    await Promise.all(this.storing);
  }

  /** Hooks itself into a server whose routes are not registered yet. */
  install(server: FastifyInstance): void {
    server.decorateRequest('claim', null);
    server.decorateRequest('earlierTask', null);
    server.addHook('onRoute', (route) => {
      if (route.config?.paid) route.handler = this.watched(route.handler);
    });
    server.addHook('preHandler', (request, reply) => this.begin(request, reply));
    server.addHook('preClose', (done) => {
      this.closing.abort();
      done();
    });
    server.addHook('onSend', async (request, reply, payload) => {
      if (request.claim === null || !isBytes(payload)) return payload;
      const { statusCode: status } = reply;
      const kept = headersToKeep((name) => reply.getHeader(name));
      await this.end(request.claim, { status, ...kept, body: Buffer.from(payload) });
      return payload;
    });
  }

  /** The ledger has a hold for the request: whatever the answer is now, it is final. */
  chargeHeld(requestId: string): void {
    const claim = this.atWork.get(requestId);
    if (claim) claim.held = true;
  }

  /** The hold was released and no upstream began the work, so a following refusal does not belong to this request's work. */
  nothingTaken(requestId: string): void {
    const claim = this.atWork.get(requestId);
    if (claim) claim.held = false;
  }

  /**
   * Call in the transaction that saves the task of a further model. A gateway that could not renew its lease counts as dead,
   * so a repeat may have been answered or have started over. Until the transaction ends, none can.
   * @throws ApiError idempotency_outcome_unknown if the lease did not hold all the time
   */
  async requireLease(client: ClientBase, requestId: string): Promise<void> {
    const claim = this.atWork.get(requestId);
    if (!claim) return;
    const hasHeld = performance.now() < claim.leaseEndMs;
    if (hasHeld && (await this.parts.store.lockHeld(client, requestId))) return;
    claim.isLost = true;
    throw unknownOutcome();
  }

  /** Deletes expired keys. True if there may be more. */
  async purgeExpired(chargeId?: string): Promise<boolean> {
    const { rows, files } = await this.parts.store.purge(MAX_PURGED, chargeId);
    await Promise.all(files.map((file) => this.parts.files.remove(file)));
    return rows === MAX_PURGED;
  }

  /** Answers from the store, or claims the key for the handler to work under. */
  private async begin(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const name = request.headers[HEADER];
    if (name === undefined || !request.routeOptions.config.paid || !request.caller) return;
    const { keyId } = request.caller;
    const wanted = {
      keyId,
      name: checkedKeyName(name),
      contentHash: await contentHash(request),
      chargeId: request.id,
    };
    const found = await this.claimOrWait(wanted, request);
    if (typeof found === 'number') {
      this.work(request, reply, found);
      return undefined;
    }
    // Its charge is the first request's.
    request.id = found.chargeId;
    nameRequest(request, reply);
    if ('status' in found.outcome) return this.answers.repeat(found.outcome, reply);
    request.earlierTask = found.outcome;
    return undefined;
  }

  /**
   * Waits for as long as the first request is at work: its own limits end it, and its lease shows when nobody does the
   * work any more. A gateway that shuts down sends its waiting repeats to another one.
   * @returns the end of its own lease, by this process's clock, if it is the first
   */
  private async claimOrWait(wanted: KeyedRequest, request: FastifyRequest): Promise<Earlier | number> {
    const { store, leaseMs } = this.parts;
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const nowMs = performance.now();
      if (await store.claim(wanted, this.parts)) return nowMs + leaseMs;
      for (;;) {
        const record = await store.find(wanted.keyId, wanted.name);
        if (!record) break;
        if (record.isExpired) {
          await this.purgeExpired(record.chargeId);
          break;
        }
        if (!record.contentHash.equals(wanted.contentHash)) throw otherContent();
        const { chargeId, answer } = record;
        if (answer) return { chargeId, outcome: answer };
        if (record.isLeft) {
          const task = await this.taskOf(record);
          if (task) return { chargeId, outcome: task };
          break;
        }
        if (this.closing.signal.aborted || request.raw.socket.destroyed) throw stillRunning();
        await pause(pauseMs * (0.75 + Math.random() / 2));
        pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
      }
    }
  }

  /**
   * The task of an abandoned request, for the last of its models that got so far. Null once the key is free again: all of its models
   * were turned away before its lease ended, and so before any repeat was answered. @throws ApiError idempotency_outcome_unknown when there is no task
   */
  private taskOf({ chargeId }: KeyedRecord): Promise<Task | null> {
    return this.parts.store.outcomeOfLeft(chargeId, async (client, leaseUntilMs) => {
      const task = await this.parts.tasks.lastOfCharges(chargeIdsOf(chargeId), client);
      if (!task) throw unknownOutcome();
      return isTurnedAway(task, leaseUntilMs) ? null : task;
    });
  }

  private work(request: FastifyRequest, reply: FastifyReply, leaseEndMs: number): void {
    const { id: chargeId } = request;
    const claim = newClaim(chargeId, leaseEndMs);
    request.claim = claim;
    this.atWork.set(claim.chargeId, claim);
    const { raw } = reply;
    recordResponse(raw, {
      maxBytes: MAX_ANSWER_BYTES,
      isWanted: () => !claim.ended,
      onEnd: (answer) => this.endSent(claim, answer),
    });
    raw.once('close', () => this.leaveIfOver(claim, reply));
  }

  /** Routes may answer without Fastify, or not at all when the client has left: what then remains is seen here. */
  private watched(handler: RouteOptions['handler']): RouteOptions['handler'] {
    // oxlint-disable-next-line typescript/no-this-alias -- Fastify binds a handler to its server
    const idempotency = this;
    return async function (request, reply) {
      try {
        return await handler.call(this, request, reply);
      } finally {
        const { claim } = request;
        if (claim) {
          claim.handlerIsDone = true;
          idempotency.leaveIfOver(claim, reply);
        }
      }
    };
  }

  private leaveIfOver(claim: Claim, reply: FastifyReply): void {
    if (claim.ended || !claim.handlerIsDone || !reply.raw.destroyed) return;
    this.endSent(claim, null);
  }

  /** Stores the outcome of an answer that is sent already; null when the answer was not kept. */
  private endSent(claim: Claim, answer: SentAnswer | null): void {
    const stored = this.end(claim, answer).finally(() => this.storing.delete(stored));
    this.storing.add(stored);
  }

  /** Stores what is final, frees the key of what is not. Never throws: a row that cannot be written is left. */
  private async end(claim: Claim, answer: SentAnswer | null): Promise<void> {
    if (claim.ended) return;
    claim.ended = true;
    const { chargeId, held, isLost } = claim;
    const { store, log } = this.parts;
    try {
      if (isLost || (answer === null && held)) await store.renew([chargeId], 0);
      else if (answer !== null && isFinal(answer.status, claim))
        await store.answer(chargeId, await this.answers.keep(chargeId, answer));
      else await store.free(chargeId);
    } catch (error) {
      log.error(
        { err: error, chargeId },
        'the outcome of a request with an idempotency key could not be stored',
      );
    } finally {
      this.atWork.delete(chargeId);
    }
  }

  private async renew(): Promise<void> {
    const claims = [...this.atWork.values()];
    if (claims.length === 0) return;
    const { store, leaseMs } = this.parts;
    const nowMs = performance.now();
    const chargeIds = claims.map(({ chargeId }) => chargeId);
    await store.renew(chargeIds, leaseMs);
    for (const claim of claims) claim.leaseEndMs = nowMs < claim.leaseEndMs ? nowMs + leaseMs : 0;
  }
}

function isBytes(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload);
}
