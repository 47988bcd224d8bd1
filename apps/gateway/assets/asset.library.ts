import { fieldOf } from '../http/declared-body.js';
import { TaskLibrary, type TaskKind, type TaskLibraryParts } from '../tasks/task.library.js';
import { type AssetView, assetView } from './asset.view.js';

export const ASSET_TASKS: TaskKind<AssetView> = {
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
  fileQuery: { format: fieldOf.word(['glb']) },
  view: assetView,
};

/** 3D assets and their files as clients see them. */
export class AssetLibrary extends TaskLibrary<AssetView> {
  constructor(parts: TaskLibraryParts) {
    super(ASSET_TASKS, parts);
  }
}
