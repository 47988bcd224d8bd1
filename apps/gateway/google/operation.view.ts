import type { Task } from '#tasks/task.js';
import { isTerminal } from '#tasks/task-state.js';

const RESPONSE_TYPE = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';

/** Google's own numbers for how an operation failed (google.rpc.Code). */
const INVALID_ARGUMENT = { code: 3, status: 'INVALID_ARGUMENT' };
const INTERNAL = { code: 13, status: 'INTERNAL' };

/** A task as a long-running operation. */
export interface OperationView {
  name: string;
  metadata: Record<string, never>;
  done: boolean;
  response?: {
    '@type': string;
    generateVideoResponse: { generatedSamples: { video: { uri: string; encoding: string } }[] };
  };
  error?: { code: number; message: string; status: string };
}

/** The name that clients append to `/v1beta/`, so without a leading slash. */
export function operationName(task: Pick<Task, 'id' | 'requestedModel'>): string {
  return `models/${task.requestedModel}/operations/${task.id}`;
}

export function operationView(
  task: Pick<Task, 'id' | 'requestedModel' | 'state' | 'errorCode' | 'errorMessage'>,
  origin: () => string,
): OperationView {
  const operation = { name: operationName(task), metadata: {}, done: isTerminal(task.state) };
  if (!operation.done) return operation;
  if (task.state !== 'completed') {
    const kind = task.errorCode === 'content_policy_violation' ? INVALID_ARGUMENT : INTERNAL;
    const message = `${task.errorCode ?? 'generation_failed'}: ${task.errorMessage ?? 'The generation failed.'}`;
    return { ...operation, error: { ...kind, message } };
  }
  const video = { uri: `${origin()}/v1beta/files/${task.id}:download?alt=media`, encoding: 'video/mp4' };
  const generateVideoResponse = { generatedSamples: [{ video }] };
  return { ...operation, response: { '@type': RESPONSE_TYPE, generateVideoResponse } };
}
