import { z } from 'zod';
import { publicStates, publicStatus } from '#tasks/task-state.js';
import { amountView, shown, timeView } from '#platform/http/fields.js';
import type { AccountTask } from '#usage/task.reader.js';

export const accountTaskView = z
  .object({
    id: z.string(),
    kind: z.enum(['video', '3d']),
    state: z.enum(publicStates),
    progress: z.int().describe('Percent.'),
    model: z.string().describe('The model whose price applies.'),
    requestedModel: z.string().describe('The model as requested, which may be an alias.'),
    keyId: z.string(),
    chargeId: z.string(),
    prompt: z.string(),
    seconds: z.int().nullable().describe('The billed length of a video.'),
    size: z.string().nullable(),
    aspectRatio: z.string().nullable(),
    resolution: z.string().nullable(),
    audio: z.boolean().nullable().describe('Whether a video has sound. Null if the vendor decides.'),
    mode: z.enum(['draft', 'texture']).nullable().describe('For 3D assets only.'),
    held: amountView.nullable().describe('Credits held at the start. Null before that.'),
    settled: amountView.nullable().describe('Credits charged. Null while the task is running.'),
    released: amountView.nullable().describe('Credits released. Null while the task is running.'),
    createdAt: timeView,
    endedAt: timeView.nullable(),
    file: z
      .object({
        bytes: z.int().nullable(),
        type: z.string().nullable(),
        available: z.boolean().describe('Whether it can be downloaded now.'),
        expiresAt: timeView.nullable().describe('Available for download until this time.'),
        deletedAt: timeView.nullable().describe('When the owner deleted it.'),
      })
      .nullable()
      .describe('For completed tasks only.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'Task' });

export type AccountTaskView = z.output<typeof accountTaskView>;

/** A task as its owner sees it, without the channel that did the work. */
export function viewTask(task: AccountTask, nowMs: number): AccountTaskView {
  return shown(accountTaskView, {
    id: task.id,
    kind: task.kind,
    state: publicStatus(task.state, 'openai', task.progress) as AccountTaskView['state'],
    progress: task.state === 'completed' ? 100 : task.progress,
    model: task.modelId,
    requestedModel: task.requestedModel,
    keyId: task.keyId,
    chargeId: task.chargeId,
    ...orderOf(task),
    held: task.heldAmount,
    settled: task.settled,
    released: task.released,
    createdAt: new Date(task.createdAtMs),
    endedAt: timeOrNull(task.endedAtMs),
    file: fileOf(task, nowMs),
    error: errorOf(task),
  });
}

function orderOf({ kind, request, seconds }: AccountTask) {
  return {
    prompt: request.prompt,
    seconds: kind === 'video' ? seconds : null,
    size: request.size ?? null,
    aspectRatio: request.aspectRatio ?? null,
    resolution: request.resolution ?? null,
    audio: request.audio ?? null,
    mode: request.asset?.mode ?? null,
  };
}

function errorOf({ state, errorCode, errorMessage }: AccountTask): AccountTaskView['error'] {
  if (state !== 'failed') return null;
  return { code: errorCode ?? 'generation_failed', message: errorMessage ?? '' };
}

function fileOf(task: AccountTask, nowMs: number): z.input<typeof accountTaskView>['file'] {
  if (task.state !== 'completed') return null;
  const { expiresAtMs, deletedAtMs } = task;
  return {
    bytes: task.fileBytes,
    type: task.fileType,
    available: deletedAtMs === null && (expiresAtMs === null || nowMs < expiresAtMs),
    expiresAt: timeOrNull(expiresAtMs),
    deletedAt: timeOrNull(deletedAtMs),
  };
}

function timeOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
