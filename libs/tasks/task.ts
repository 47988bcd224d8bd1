import { type Nanos, nanos } from '#money/amount.js';
import type { Dialect, TaskState } from './task-state.js';

/** The requested 3D asset. */
interface AssetDetails {
  mode: 'draft' | 'texture';
  /** The task of the textured draft: ours, and the upstream's. */
  draftId?: string;
  upstreamDraftId?: string;
  format: 'glb';
  pbr?: boolean;
  faceLimit?: number;
  seed?: number;
  /** The number of images in the request. They are not stored, so a create with images cannot be repeated. */
  pictures: number;
}

/** The request to the upstream, as billed. Stored so that a create can be repeated after a crash. */
export interface TaskRequest {
  /** Empty if an asset is made only from images. */
  prompt: string;
  /** As the client sent it. Answers include it. */
  size?: string;
  aspectRatio?: string;
  resolution?: string;
  /** Whether the video has sound; absent where the vendor decides. */
  audio?: boolean;
  /** The task of the original video: ours, and the upstream's. */
  remix?: { videoId: string; upstreamId: string };
  asset?: AssetDetails;
}

/** A task as it is stored. Times are milliseconds since 1970 by the database's clock. */
export interface Task {
  id: string;
  kind: 'video' | '3d';
  accountId: string;
  keyId: string;
  chargeId: string;
  dialect: Dialect;
  state: TaskState;
  modelId: string;
  requestedModel: string;
  request: TaskRequest;
  /** Billed units: whole seconds of a video, 1 for a 3D asset. */
  seconds: number;
  heldAmount: Nanos | null;
  channelId: string | null;
  /** The mark of the channel's key that created it. Null if not recorded. */
  channelKey: string | null;
  upstreamModel: string | null;
  upstreamId: string | null;
  /** Percent. */
  progress: number;
  errorCode: string | null;
  errorMessage: string | null;
  fileKey: string | null;
  fileBytes: number | null;
  fileType: string | null;
  createdAtMs: number;
  endedAtMs: number | null;
  expiresAtMs: number | null;
  /** When its owner deleted the file. The record stays. */
  deletedAtMs: number | null;
  deadlineMs: number;
  pollAttempts: number;
  copyAttempts: number;
}

/** The columns that `readTask` reads. */
export const TASK_COLUMNS = `t.id, t.kind, t.account_id, t.key_id, t.charge_id, t.dialect, t.state, t.model_id,
  t.requested_model, t.request, t.seconds, t.held_amount, t.channel_id, t.channel_key, t.upstream_model, t.upstream_id, t.progress,
  t.error_code, t.error_message, t.file_key, t.file_bytes, t.file_type, t.created_at, t.ended_at, t.expires_at,
  t.deleted_at, t.deadline, t.poll_attempts, t.copy_attempts`;

/** A row with TASK_COLUMNS as returned by the pool: int8 as bigint, timestamps as Date. */
export interface TaskRow {
  id: string;
  kind: 'video' | '3d';
  account_id: string;
  key_id: string;
  charge_id: string;
  dialect: Dialect;
  state: TaskState;
  model_id: string;
  requested_model: string;
  request: TaskRequest;
  seconds: number;
  held_amount: bigint | null;
  channel_id: string | null;
  channel_key: string | null;
  upstream_model: string | null;
  upstream_id: string | null;
  progress: number;
  error_code: string | null;
  error_message: string | null;
  file_key: string | null;
  file_bytes: bigint | null;
  file_type: string | null;
  created_at: Date;
  ended_at: Date | null;
  expires_at: Date | null;
  deleted_at: Date | null;
  deadline: Date;
  poll_attempts: number;
  copy_attempts: number;
}

export function readTask(row: TaskRow): Task {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    keyId: row.key_id,
    chargeId: row.charge_id,
    dialect: row.dialect,
    state: row.state,
    modelId: row.model_id,
    requestedModel: row.requested_model,
    request: row.request,
    seconds: row.seconds,
    heldAmount: row.held_amount === null ? null : nanos(row.held_amount),
    channelId: row.channel_id,
    channelKey: row.channel_key,
    upstreamModel: row.upstream_model,
    upstreamId: row.upstream_id,
    progress: row.progress,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    fileKey: row.file_key,
    fileBytes: row.file_bytes === null ? null : Number(row.file_bytes),
    fileType: row.file_type,
    createdAtMs: row.created_at.getTime(),
    endedAtMs: row.ended_at?.getTime() ?? null,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    deletedAtMs: row.deleted_at?.getTime() ?? null,
    deadlineMs: row.deadline.getTime(),
    pollAttempts: row.poll_attempts,
    copyAttempts: row.copy_attempts,
  };
}

/**
 * Whether the gateway that created a task ended it by this time because its hold was refused or no upstream accepted it. A worker
 * also ends tasks without an upstream id, but an upstream may have accepted those.
 */
export function isTurnedAway(task: Task, byMs: number): boolean {
  const { state, upstreamId, endedAtMs, pollAttempts } = task;
  if (endedAtMs === null || endedAtMs > byMs) return false;
  return state === 'refused' || (state === 'failed' && upstreamId === null && pollAttempts === 0);
}
