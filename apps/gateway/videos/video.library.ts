import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { FileStore } from '#storage/file-store.js';
import { signPath, verifySignature } from '#storage/signed-url.js';
import type { Task } from '#tasks/task.js';
import type { TaskStore } from '#tasks/task.store.js';
import { isMissingFile, sendFile } from '../http/file-answer.js';
import { RESERVED_IDS } from '../http/route-table.js';
import { type VideoView, type ViewedTask, videoView } from './video.view.js';

/** Our ids, and whatever an upstream may have called its task; nothing that a path or a database could trip over. */
const ID = /^[A-Za-z0-9](?:[A-Za-z0-9_:.-]{0,198}[A-Za-z0-9])?$/;
const OWN_ID = /^[a-z0-9]{20,40}$/;

/** Tasks and their files as clients see them. */
export class VideoLibrary {
  constructor(
    private readonly tasks: TaskStore,
    private readonly store: FileStore,
    private readonly options: { secret: string; clock: Clock },
  ) {}

  /** A task of this account, by its id or its upstream's. @throws ApiError video_not_found, the same for anybody else's */
  async find(accountId: string, id: string): Promise<Task> {
    const task =
      ID.test(id) && !RESERVED_IDS.includes(id) ? await this.tasks.findForAccount(accountId, id) : null;
    if (!task) throw notFound();
    return task;
  }

  /**
   * The task of a signed address. The signature opens it to whoever holds it; once it is over, the video is too, and
   * the answer is the same 404. @throws ApiError
   */
  async findSigned(id: string, query: Record<string, unknown>): Promise<Task> {
    const { exp, sig } = query;
    const given = { exp: text(exp), sig: text(sig) };
    if (given.sig === undefined) {
      throw new ApiError(
        'invalid_api_key',
        'Send an API key, or use the signed address of a finished video.',
      );
    }
    // At time 0 every expiry lies ahead: what is left to check is whether the signature is ours.
    const genuine = OWN_ID.test(id) && verifySignature(this.options.secret, contentPath(id), given, 0);
    if (!genuine) throw new ApiError('invalid_api_key', 'The signature of the address is not valid.');
    const task = await this.tasks.find(id);
    if (!task) throw notFound();
    if (Number(given.exp) * 1000 <= this.options.clock.nowMs()) throw expired();
    return task;
  }

  /** `origin`: scheme and host that the client reaches us under. */
  view(task: ViewedTask, origin: string): VideoView {
    const { secret, clock } = this.options;
    const { state, expiresAtMs } = task;
    const offered = state === 'completed' && expiresAtMs !== null && clock.nowMs() < expiresAtMs;
    const path = contentPath(task.id);
    return videoView(task, offered ? origin + path + signPath(secret, path, expiresAtMs) : null);
  }

  /** Answers with the file. @throws ApiError; none of them is one that SDKs repeat */
  async send(
    task: Task,
    answer: { variant: unknown; request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    const { variant, request, reply } = answer;
    if (variant !== undefined && variant !== 'video') {
      throw new ApiError('invalid_value', 'Only the variant video is offered.', { param: 'variant' });
    }
    if (task.state === 'failed')
      throw new ApiError('video_failed', 'The video could not be made; it cost nothing.');
    if (task.state !== 'completed') throw new ApiError('video_not_ready', 'The video is not finished yet.');
    const { fileKey: key, fileType, expiresAtMs, id } = task;
    if (key === null || (expiresAtMs !== null && expiresAtMs <= this.options.clock.nowMs())) throw expired();
    const stored = await this.store.stat(key);
    if (!stored) throw expired();
    const file = { key, bytes: stored.bytes, type: fileType ?? 'video/mp4', etag: `"${id}"` };
    try {
      await sendFile(request, reply, { store: this.store, file });
    } catch (error) {
      throw isMissingFile(error) ? expired() : error;
    }
  }
}

/** The path that is signed, whichever alias is asked. */
function contentPath(id: string): string {
  return `/v1/videos/${id}/content`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function notFound(): ApiError {
  return new ApiError('video_not_found', 'There is no such video.');
}

function expired(): ApiError {
  return new ApiError('video_expired', 'The video has expired; its file is kept for a limited time only.');
}
