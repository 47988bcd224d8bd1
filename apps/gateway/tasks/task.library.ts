import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#platform/clock.js';
import { ApiError, type ErrorCode } from '#platform/errors.js';
import type { FileStore } from '#storage/file-store.js';
import { signPath, verifySignature } from '#storage/signed-url.js';
import type { Task } from '#tasks/task.js';
import type { TaskListing } from '#tasks/task-listing.store.js';
import type { TaskStore } from '#tasks/task.store.js';
import type { DeclaredField } from '../http/declared-body.js';
import { isMissingFile, sendFile } from '../http/file-answer.js';
import { pathPart, queryOf } from '../http/path-part.js';
import { RESERVED_IDS } from '../http/route-table.js';
import type { ViewedTask } from './task.view.js';

/** Our IDs and those of upstreams, without anything that could break a path or a query. */
const ID = /^[A-Za-z0-9](?:[A-Za-z0-9_:.-]{0,198}[A-Za-z0-9])?$/;
const OWN_ID = /^[a-z0-9]{20,40}$/;

/** A type of task as clients see it: the path of its file, and the codes of its refusals. */
export interface TaskKind<View> {
  readonly kind: Task['kind'];
  /** Its name for people. */
  readonly noun: string;
  /** The path that is signed, whichever alias is asked. */
  contentPath(id: string): string;
  readonly fileType: string;
  readonly codes: Readonly<Record<'notFound' | 'notReady' | 'failed' | 'expired' | 'deleted', ErrorCode>>;
  /** What the query of a download can ask for, which there is only one of. */
  readonly fileQuery: Readonly<Record<string, DeclaredField<unknown>>>;
  /** `fileUrl`: the signed URL of the finished file, or null if there is none. */
  view(task: ViewedTask, fileUrl: string | null): View;
}

export interface TaskLibraryParts {
  tasks: TaskStore;
  listing: TaskListing;
  store: FileStore;
  /** Signs the URLs of files. */
  secret: string;
  clock: Clock;
}

/** Tasks of one type and their files, as clients see them. */
export class TaskLibrary<View> {
  constructor(
    private readonly kind: TaskKind<View>,
    protected readonly parts: TaskLibraryParts,
  ) {}

  /** `origin`: the scheme and host that the client uses, called only if there is a link to build. */
  view(task: ViewedTask, origin: () => string): View {
    const path = this.signedPath(task);
    return this.kind.view(task, path === null ? null : origin() + path);
  }

  /**
   * A task of this account, by its id or its upstream's. @throws ApiError 404: not found, the same for anyone else's, or
   * deleted by its owner
   */
  async find(accountId: string, id: string): Promise<Task> {
    const task = await this.findRecord(accountId, id);
    if (task.deletedAtMs !== null) throw this.deleted();
    return task;
  }

  /** The same, of a deleted task too. @throws ApiError not found */
  private async findRecord(accountId: string, id: string): Promise<Task> {
    const isId = ID.test(id) && !RESERVED_IDS.includes(id);
    const task = isId ? await this.parts.tasks.findForAccount(accountId, id) : null;
    if (task?.kind !== this.kind.kind) throw this.notFound();
    return task;
  }

  /** The task of a request for its file: the caller's, or that of the signed URL. @throws ApiError */
  requested(request: FastifyRequest): Promise<Task> {
    const id = pathPart(request, 'id');
    return request.caller ? this.find(request.caller.accountId, id) : this.findSigned(id, queryOf(request));
  }

  /**
   * The task of a signed URL, which opens it to anyone. Once the signature has expired, so has the file, and
   * the answer is the same 404. @throws ApiError
   */
  private async findSigned(id: string, query: Record<string, unknown>): Promise<Task> {
    const { exp, sig } = query;
    const given = { exp: text(exp), sig: text(sig) };
    if (given.sig === undefined) {
      const message = `Send an API key, or use the signed address of a finished ${this.kind.noun}.`;
      throw new ApiError('invalid_api_key', message);
    }
    const { tasks, secret, clock } = this.parts;
    // At time 0 no signature has expired, so this only checks whether the signature is ours.
    const genuine =
      OWN_ID.test(id) && verifySignature(secret, { ...given, path: this.kind.contentPath(id) }, 0);
    if (!genuine) throw new ApiError('invalid_api_key', 'The signature of the URL is not valid.');
    const task = await tasks.find(id);
    if (task?.kind !== this.kind.kind) throw this.notFound();
    if (Number(given.exp) * 1000 <= clock.nowMs()) throw this.expired();
    return task;
  }

  /** The path and signature under which a finished file is offered; null when there is none (any more). */
  private signedPath(task: Pick<Task, 'id' | 'state' | 'expiresAtMs' | 'deletedAtMs'>): string | null {
    const { secret, clock } = this.parts;
    const { state, expiresAtMs, deletedAtMs } = task;
    if (state !== 'completed' || deletedAtMs !== null) return null;
    if (expiresAtMs === null || clock.nowMs() >= expiresAtMs) return null;
    const path = this.kind.contentPath(task.id);
    return path + signPath(secret, path, expiresAtMs);
  }

  /** Answers with the file. @throws ApiError; none of them is one that SDKs repeat */
  async send(
    task: Task,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    const { noun, codes, fileQuery } = this.kind;
    for (const [name, { read }] of Object.entries(fileQuery)) read(queryOf(request), name);
    const { store, clock } = this.parts;
    if (task.state === 'failed') throw new ApiError(codes.failed, `The ${noun} failed. Nothing was charged.`);
    if (task.state !== 'completed') throw new ApiError(codes.notReady, `The ${noun} is not finished yet.`);
    if (task.deletedAtMs !== null) throw this.deleted();
    const { fileKey: key, fileType, expiresAtMs, id } = task;
    if (key === null || (expiresAtMs !== null && expiresAtMs <= clock.nowMs())) throw this.expired();
    const stored = await store.stat(key);
    if (!stored) throw this.expired();
    const file = { key, bytes: stored.bytes, type: fileType ?? this.kind.fileType, etag: `"${id}"` };
    try {
      await sendFile(request, reply, { store, file });
    } catch (error) {
      throw isMissingFile(error) ? this.expired() : error;
    }
  }

  /**
   * Deletes a task that has ended. Clients see neither it nor its file again. The books keep what it cost. Safe to repeat.
   * @throws ApiError not found, and not ready while the task runs
   */
  async remove(accountId: string, id: string): Promise<Task> {
    const { listing, store } = this.parts;
    const { noun, codes } = this.kind;
    const task = await this.findRecord(accountId, id);
    if (task.deletedAtMs !== null) return task;
    if (!(await listing.markDeleted(task.id))) {
      throw new ApiError(codes.notReady, `The ${noun} is not finished yet, so it cannot be deleted.`);
    }
    // From here on nobody is sent the file; were it to stay, it would be removed with the old ones.
    if (task.fileKey !== null) await store.remove(task.fileKey);
    return task;
  }

  private notFound(): ApiError {
    return new ApiError(this.kind.codes.notFound, `There is no such ${this.kind.noun}.`);
  }

  private deleted(): ApiError {
    return new ApiError(this.kind.codes.deleted, `The ${this.kind.noun} was deleted.`);
  }

  private expired(): ApiError {
    const { noun, codes } = this.kind;
    return new ApiError(codes.expired, `The ${noun} has expired: files are only kept for a limited time.`);
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
