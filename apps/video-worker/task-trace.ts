import type { Channel } from '#catalog/catalog.js';
import { traced } from '#platform/tracing.js';
import type { LeasedTask } from '#tasks/leased-task.js';

/** Runs something for a task in the trace of the call that created it. */
export function inTaskTrace(name: string, task: LeasedTask, work: () => Promise<void>): Promise<void> {
  const { id, chargeId, pollAttempts, traceparent: parent } = task;
  const facts = {
    'tollgate.task.id': id,
    'tollgate.charge.id': chargeId,
    'tollgate.poll.attempt': pollAttempts,
  };
  return traced(name, { parent, facts }, work);
}

/** One poll of an upstream about a task. */
export function tracedPoll<A extends { kind: string }>(
  { upstreamModel }: LeasedTask,
  { id }: Channel,
  poll: () => Promise<A>,
): Promise<A> {
  const facts = { 'gen_ai.request.model': upstreamModel, 'tollgate.channel': id };
  return traced('poll', { kind: 'client', facts }, async (span) => {
    const answer = await poll();
    span.note({ 'tollgate.outcome': answer.kind });
    return answer;
  });
}
