import type { Nanos } from '#money/amount.js';
import type { Dialect, TaskState } from './task-state.js';

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

/** A task's columns under the names of its fields, for a query on `tasks t`. */
export const TASK_COLUMNS = `t.id, t.kind, t.account_id AS "accountId", t.key_id AS "keyId", t.charge_id AS "chargeId", t.dialect,
  t.state, t.model_id AS "modelId", t.requested_model AS "requestedModel", t.request, t.seconds, t.held_amount AS "heldAmount",
  t.channel_id AS "channelId", t.channel_key AS "channelKey", t.upstream_model AS "upstreamModel", t.upstream_id AS "upstreamId",
  t.progress, t.error_code AS "errorCode", t.error_message AS "errorMessage", t.file_key AS "fileKey",
  t.file_bytes::float8 AS "fileBytes", t.file_type AS "fileType", ${inMs('created_at')} AS "createdAtMs",
  ${inMs('ended_at')} AS "endedAtMs", ${inMs('expires_at')} AS "expiresAtMs", ${inMs('deleted_at')} AS "deletedAtMs",
  ${inMs('deadline')} AS "deadlineMs", t.poll_attempts AS "pollAttempts", t.copy_attempts AS "copyAttempts"`;

function inMs(column: string): string {
  return `trunc(extract(epoch FROM t.${column}) * 1000)::float8`;
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
