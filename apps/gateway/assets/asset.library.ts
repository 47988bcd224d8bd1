import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Task } from '#tasks/task.js';
import { type Body, optionalWord } from '../http/fields.js';
import type { TaskKind, TaskLibrary } from '../tasks/task.library.js';
import type { ViewedTask } from '../tasks/task.view.js';
import { type AssetView, assetView } from './asset.view.js';

export const ASSET: TaskKind = {
  kind: '3d',
  noun: '3D asset',
  contentPath: (id) => `/v1/3d/${id}/content`,
  fileType: 'model/gltf-binary',
  codes: {
    notFound: 'asset_not_found',
    notReady: 'asset_not_ready',
    failed: 'asset_failed',
    expired: 'asset_expired',
    deleted: 'asset_expired',
  },
};

/** 3D assets and their files as clients see them. */
export class AssetLibrary {
  constructor(private readonly library: TaskLibrary) {}

  /** An asset of this account. @throws ApiError asset_not_found */
  find(accountId: string, id: string): Promise<Task> {
    return this.library.find(accountId, id);
  }

  findSigned(id: string, query: Record<string, unknown>): Promise<Task> {
    return this.library.findSigned(id, query);
  }

  /** `origin`: the scheme and host that the client uses, called only if there is a link to build. */
  view(task: ViewedTask, origin: () => string): AssetView {
    const path = this.library.signedPath(task);
    return assetView(task, path === null ? null : origin() + path);
  }

  /** Sends the file in its only format. @throws ApiError */
  async send(
    task: Task,
    answer: { query: Body; request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    optionalWord(answer.query, 'format', ['glb']);
    await this.library.send(task, answer);
  }
}
