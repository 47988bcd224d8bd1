import type { ClientBase } from 'pg';
import { type Channel, keyMark } from '#catalog/catalog.js';
import type { Nanos } from '#money/amount.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type { NewTask, TaskStore } from '#tasks/task.store.js';
import type { Accepted, CreateOutcome } from '#upstream/outcomes.js';
import type { Failed, ServingParts } from '../charging/charged-call.js';
import type { ChargeService, Hold } from '../charging/charge.service.js';
import { paidRequest } from './paid-request.js';
import { noChannelFree, workOf } from '../charging/channel-entry.js';
import { inClientsName, upstreamModel } from '../charging/vendor-model.js';
import { callUpstream, UPSTREAM_CALL_FAULT } from '../charging/upstream-call.js';
import type { RoutedQuote } from '../routing/dry-run.js';
import { type ModelTurns, turnsWithin } from '../routing/model-turns.js';
import type { TaskDraft, TaskFailure, TaskOrder } from './task-order.js';
import { JUST_CREATED, type ViewedTask } from './task.view.js';
import { webhookUrlOf } from './vendor-webhooks.js';

export interface TaskCreationParts extends ServingParts {
  service: ChargeService;
  tasks: TaskStore;
  /** Called after an outbox row was committed, so that it leaves at once. */
  wakeOutbox: () => void;
  /** @throws ApiError if a request must not begin the work of a further model. Runs in the transaction that saves its task. */
  requireLease: (client: ClientBase, requestId: string) => Promise<void>;
}

/**
 * Creates tasks in this order: row, hold, permission, upstream, acceptance. From the row on, a
 * crash at any point leaves a task that a sweep can finish; from the upstream's acceptance on, the client gets a 200.
 */
export class TaskCreator {
  /** Takes a request through the models that it names. None begins later than one model alone could have ended. */
  readonly turnsOf: ReturnType<typeof turnsWithin>;

  constructor(private readonly parts: TaskCreationParts) {
    const { channelWaitMs, videoCreateLimitMs } = parts.config;
    this.turnsOf = turnsWithin(channelWaitMs + videoCreateLimitMs, parts.clock);
  }

  /** The amount that would be held for a task. @throws ApiError */
  async quote({ caller, model, units, dimensions }: TaskOrder): Promise<RoutedQuote> {
    const quote = await this.parts.calls.quote({ caller, model, units: BigInt(units), dimensions });
    return { quote, routing: model.routing };
  }

  /** @throws ApiError, without a charge */
  async create(order: TaskOrder, turns: ModelTurns): Promise<ViewedTask> {
    const { calls, clock, config } = this.parts;
    const { caller, model, channels } = order;
    await order.load?.();
    const waitMs = Math.min(config.channelWaitMs, turns.limitAtMs - clock.elapsedMs());
    return calls.withChannel(channels, { model, caller, waitMs }, (entry) =>
      this.run({ ...order, id: newId(), chargeId: turns.nextChargeId(), createdAtMs: clock.nowMs(), entry }),
    );
  }

  private async run(draft: TaskDraft): Promise<ViewedTask> {
    const { tasks, config, requireLease } = this.parts;
    crashPoint('task.before-insert');
    const isFurther = draft.chargeId !== draft.requestId;
    const requirement = isFurther ? (client: ClientBase) => requireLease(client, draft.requestId) : undefined;
    await tasks.insertCreated(taskOf(draft, config.taskDeadlineMs), requirement);
    const hold = await this.hold(draft);
    const paid = { ...draft, request: paidRequest(draft.request, hold) };
    await this.submit(paid, hold);
    return viewOf(paid, hold);
  }

  private async hold(draft: TaskDraft): Promise<Hold> {
    const { service, tasks } = this.parts;
    const { caller, model, requestId, chargeId, id, units, dimensions } = draft;
    const outcome = await service.hold({
      chargeId,
      caller,
      model,
      units: BigInt(units),
      dimensions,
      deadlineMs: null,
      taskId: id,
      requestId,
    });
    if (outcome.kind === 'held') return outcome.hold;
    const { error } = outcome;
    await this.orLeaveToSweep(draft, () =>
      outcome.kind === 'refused'
        ? tasks.toRefused(id, { code: error.code, message: error.message })
        : this.failTask(draft, { error, channelId: null, upstreamStatus: null }, 'created'),
    );
    throw error;
  }

  /** Returns when the task is with the upstream, or with a sweep. @throws ApiError when nobody took it */
  private async submit(draft: TaskDraft, hold: Hold): Promise<void> {
    const work = workOf(draft.caller, draft.model);
    const { last, isStopped } = await this.parts.calls.askInTurn<CreateOutcome, 'accepted'>(draft.entry, {
      work,
      asked: { operation: draft.kind, model: draft.model },
      taken: 'accepted',
      mayAsk: (channel, before) => this.mayCall(draft, channel, before ? null : hold.amount),
      ask: (channel) => this.askUpstream(draft, channel),
      onFailure: (failure, channel) => this.report(draft, channel, failure),
    });
    // Another request was faster, or the sweep after an unclear write decides the task; polls will show it.
    if (isStopped || !last) return;
    const { outcome, channel } = last;
    if (outcome.kind === 'accepted') return this.accepted(draft, outcome);
    if (outcome.kind === 'unknown') return this.unclear(draft);
    const { health } = this.parts;
    const error =
      outcome.kind === 'refused'
        ? new ApiError(outcome.code, outcome.message, { status: outcome.status })
        : noChannelFree(draft.model.id, health.retryAfterSeconds(draft.channels, work.model));
    return this.fail(draft, hold, { error, channelId: channel.id, upstreamStatus: outcome.upstreamStatus });
  }

  /**
   * Only the winner of the move to `submitting` may call the upstream. Between channels the permission is renewed. `heldAmount`:
   * what is held, for the first of them.
   */
  private async mayCall(draft: TaskDraft, channel: Channel, heldAmount: Nanos | null): Promise<boolean> {
    const { tasks } = this.parts;
    const target = {
      channelId: channel.id,
      channelKey: keyMark(channel),
      upstreamModel: upstreamModel(channel, draft.model),
    };
    const mayCall = await this.orLeaveToSweep(draft, () =>
      heldAmount === null
        ? tasks.retarget(draft.id, target)
        : tasks.toSubmitting(draft.id, { ...target, heldAmount, request: draft.request }),
    );
    return mayCall === true;
  }

  private async askUpstream(draft: TaskDraft, channel: Channel): Promise<CreateOutcome> {
    const { metrics, config, log } = this.parts;
    const { id, requestId } = draft;
    const stop = metrics.upstreamSeconds.startTimer({ channel: channel.id, operation: draft.kind });
    crashPoint('upstream.before');
    const webhookUrl = webhookUrlOf(channel, this.parts);
    const task = { request: draft.request, upstreamModel: upstreamModel(channel, draft.model) };
    const create = async (signal: AbortSignal): Promise<CreateOutcome> =>
      draft.create(channel, task, { idempotencyKey: id, signal, webhookUrl });
    const outcome = await callUpstream(create, {
      limitMs: config.videoCreateLimitMs,
      onEnd: ({ kind }) => stop({ outcome: kind }),
      onFault: (error) =>
        log.error({ err: error, taskId: id, requestId, channel: channel.id }, UPSTREAM_CALL_FAULT),
    });
    if (outcome.kind === 'accepted') crashPoint('upstream.accepted');
    return inClientsName(outcome, channel, draft.model);
  }

  /** Committed before the 200. If it cannot be, the task stays `submitting` and the sweep takes it up by its key. */
  private async accepted(draft: TaskDraft, { upstreamId }: Accepted): Promise<void> {
    const { tasks, config, log } = this.parts;
    const won = await this.orLeaveToSweep(draft, () =>
      tasks.toSubmitted(draft.id, { upstreamId, firstPollMs: config.firstPollMs }),
    );
    if (won === false) {
      log.error(
        { taskId: draft.id, requestId: draft.requestId },
        'an upstream accepted a task that had already ended',
      );
      await this.orLeaveToSweep(draft, () =>
        tasks.noteUnbilledCost(draft.id, `accepted upstream as ${upstreamId} after the task had ended`),
      );
    }
  }

  private async unclear(draft: TaskDraft): Promise<void> {
    const { tasks, config } = this.parts;
    await this.orLeaveToSweep(draft, () => tasks.toUnknown(draft.id, config.firstPollMs));
  }

  /**
   * Ends the task and announces it in one transaction, then has the money refunded before the error goes out. If that could not be
   * written, or a sweep has taken the task meanwhile, an error would be a lie: the work may still be done.
   */
  private async fail(draft: TaskDraft, hold: Hold, failure: TaskFailure): Promise<void> {
    const { error, channelId, upstreamStatus } = failure;
    const won = await this.orLeaveToSweep(draft, () => this.failTask(draft, failure, 'submitting'));
    if (won !== true) return;
    const reason = { code: error.code, message: error.message };
    throw await this.parts.calls.release(hold, { channel: channelId, reason, upstreamStatus }, error);
  }

  private async failTask(
    draft: TaskDraft,
    { error, channelId, upstreamStatus }: TaskFailure,
    from: 'created' | 'submitting',
  ): Promise<boolean> {
    const ending = {
      id: draft.id,
      kind: draft.kind,
      chargeId: draft.chargeId,
      accountId: draft.caller.accountId,
      channelId,
      createdAtMs: draft.createdAtMs,
    };
    const won = await this.parts.tasks.toFailed(
      ending,
      { code: error.code, message: error.message, upstreamStatus },
      { from },
    );
    this.parts.wakeOutbox();
    return won;
  }

  /** If the write fails, a sweep finds and finishes the task. The client's answer does not depend on it. */
  private async orLeaveToSweep<T>(draft: TaskDraft, write: () => Promise<T>): Promise<T | undefined> {
    try {
      return await write();
    } catch (error) {
      const { id, requestId } = draft;
      this.parts.log.error(
        { err: error, taskId: id, requestId },
        'a task could not be written; a sweep will finish it',
      );
      return undefined;
    }
  }

  private report(draft: TaskDraft, channel: Channel, outcome: Failed<CreateOutcome, 'accepted'>): void {
    const { id, requestId } = draft;
    const { kind, upstreamStatus } = outcome;
    const reason = outcome.kind === 'refused' ? outcome.code : outcome.reason;
    const facts = { taskId: id, requestId, channel: channel.id, kind, upstreamStatus, reason };
    this.parts.log.warn(facts, 'an upstream did not accept a task');
  }
}

function viewOf(draft: TaskDraft, { amount: heldAmount }: Hold): ViewedTask {
  const { id, kind, dialect, model, request, units: seconds, createdAtMs } = draft;
  const requestedModel = model.id;
  return { ...JUST_CREATED, id, kind, dialect, requestedModel, request, seconds, heldAmount, createdAtMs };
}

function taskOf({ id, kind, caller, model, ...draft }: TaskDraft, deadlineMs: number): NewTask {
  const { accountId, keyId, group, limits } = caller;
  return {
    id,
    kind,
    accountId,
    keyId,
    group,
    limits,
    chargeId: draft.chargeId,
    dialect: draft.dialect,
    modelId: model.aliasOf ?? model.id,
    requestedModel: model.id,
    request: draft.request,
    seconds: draft.units,
    deadlineMs,
  };
}
