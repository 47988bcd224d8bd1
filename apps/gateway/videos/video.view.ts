import { type TaskFields, taskFields, type ViewedTask } from '../tasks/task.view.js';

/** A video as returned to clients, with both OpenAI's and xAI's fields. */
export interface VideoView extends TaskFields {
  request_id: string;
  object: 'video';
  seconds: string;
  size: string | null;
  resolution: string | null;
  aspect_ratio: string | null;
  /** Null if the vendor decides. */
  generate_audio: boolean | null;
  prompt: string;
  remixed_from_video_id: string | null;
  /** Absent until the file is available, and again once it is gone: some clients treat its presence as success. */
  video?: { url: string; duration: number; respect_moderation: true };
}

/** `fileUrl` is the signed URL of the finished file, or null if there is none. */
export function videoView(task: ViewedTask, fileUrl: string | null): VideoView {
  return {
    ...taskFields(task),
    request_id: task.id,
    object: 'video',
    seconds: String(task.seconds),
    size: task.request.size ?? null,
    resolution: task.request.resolution ?? null,
    aspect_ratio: task.request.aspectRatio ?? null,
    generate_audio: task.request.audio ?? null,
    prompt: task.request.prompt,
    remixed_from_video_id: task.request.remix?.videoId ?? null,
    ...(fileUrl === null
      ? {}
      : { video: { url: fileUrl, duration: task.seconds, respect_moderation: true as const } }),
  };
}
