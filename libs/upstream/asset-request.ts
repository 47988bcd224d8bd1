import type { Task } from '#tasks/task.js';
import type { AssetRequest, InputImage } from './outcomes.js';

/**
 * The upstream request of a 3D task. Gateway and worker both build it here, because a repeat with the same idempotency
 * key must be the same request. @throws Error for a task of another kind
 */
export function assetRequestOf(
  task: Pick<Task, 'request'> & { upstreamModel: string },
  images: readonly InputImage[] = [],
): AssetRequest {
  const { prompt, asset } = task.request;
  if (!asset) throw new Error('the task asks for no asset');
  const { mode, upstreamDraftId, format, pbr, faceLimit, seed } = asset;
  return {
    model: task.upstreamModel,
    mode,
    ...(prompt === '' ? {} : { prompt }),
    ...(images.length === 0 ? {} : { images }),
    draftId: upstreamDraftId,
    format,
    pbr,
    faceLimit,
    seed,
  };
}
