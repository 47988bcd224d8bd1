import type { Task } from '#tasks/task.js';
import type { VideoRequest } from './outcomes.js';

/**
 * The upstream request of a task. Gateway and worker both build it here, because a repeat with the same idempotency key
 * must be the same request.
 */
export function videoRequestOf(
  task: Pick<Task, 'request' | 'seconds'> & { upstreamModel: string },
): VideoRequest {
  const { prompt, size, aspectRatio, resolution, audio, remix } = task.request;
  return {
    model: task.upstreamModel,
    prompt,
    seconds: task.seconds,
    size,
    aspectRatio,
    resolution,
    audio,
    remixOf: remix?.upstreamId,
  };
}
