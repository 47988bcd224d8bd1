import { publicStatus } from '#tasks/task-state.js';
import type { NewTaskView } from '../tasks/task.creation.js';

/** What a client sees of a task (wire.md 1.2): OpenAI's and xAI's fields at once. */
export interface VideoView {
  id: string;
  task_id: string;
  request_id: string;
  object: 'video';
  model: string;
  status: string;
  /** 0 to 100. */
  progress: number;
  /** Unix seconds, as the next two. */
  created_at: number;
  completed_at: number | null;
  expires_at: number | null;
  seconds: string;
  size: string | null;
  resolution: string | null;
  aspect_ratio: string | null;
  prompt: string;
  remixed_from_video_id: null;
  error: { code: string; message: string } | null;
  usage: { cost_in_usd_ticks: number };
  /** Absent until the file is there, and again once it has expired: some clients take its presence for success. */
  video?: { url: string; duration: number; respect_moderation: true };
}

const TICKS_PER_NANO = 10n;

/** `fileUrl` is the signed address of the finished file, or null when there is none to offer. */
export function videoView(task: NewTaskView, fileUrl: string | null): VideoView {
  const completed = task.state === 'completed';
  const failed = task.state === 'failed' || task.state === 'refused';
  return {
    id: task.id,
    task_id: task.id,
    request_id: task.id,
    object: 'video',
    model: task.requestedModel,
    status: publicStatus(task.state, task.dialect, task.progress),
    progress: completed ? 100 : task.progress,
    created_at: unixSeconds(task.createdAtMs) ?? 0,
    completed_at: completed ? unixSeconds(task.endedAtMs) : null,
    expires_at: completed ? unixSeconds(task.expiresAtMs) : null,
    seconds: String(task.seconds),
    size: task.request.size ?? null,
    resolution: task.request.resolution ?? null,
    aspect_ratio: task.request.aspectRatio ?? null,
    prompt: task.request.prompt,
    remixed_from_video_id: null,
    error: failed ? { code: task.errorCode ?? 'generation_failed', message: task.errorMessage ?? '' } : null,
    usage: { cost_in_usd_ticks: failed ? 0 : Number((task.heldAmount ?? 0n) * TICKS_PER_NANO) },
    ...(fileUrl === null
      ? {}
      : { video: { url: fileUrl, duration: task.seconds, respect_moderation: true as const } }),
  };
}

function unixSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}
