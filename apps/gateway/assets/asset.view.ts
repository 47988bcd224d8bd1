import { type TaskFields, taskFields, type ViewedTask } from '../tasks/task.view.js';

/** A 3D asset as returned to clients. */
export interface AssetView extends TaskFields {
  object: '3d.task';
  mode: 'draft' | 'texture';
  /** The draft that is textured. */
  draft_id: string | null;
  /** Absent until the file is available, and again once it has expired. */
  output?: { model_url: string; format: 'glb' };
}

/** `fileUrl` is the signed URL of the finished file, or null if there is none. */
export function assetView(task: ViewedTask, fileUrl: string | null): AssetView {
  const { mode = 'draft', draftId = null, format = 'glb' } = task.request.asset ?? {};
  return {
    ...taskFields(task),
    object: '3d.task',
    mode,
    draft_id: draftId,
    ...(fileUrl === null ? {} : { output: { model_url: fileUrl, format } }),
  };
}
