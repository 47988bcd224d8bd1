import type { CatalogCache } from '#catalog/catalog.cache.js';
import { type CatalogModel, type Channel, channelsFor } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { Clock } from '#platform/clock.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type { Logger } from '#platform/logging.js';
import type { Task } from '#tasks/task.js';
import type { Dialect } from '#tasks/task-state.js';
import type { TaskStore } from '#tasks/task.store.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { Accepted, CreateOutcome } from '#upstream/outcomes.js';
import type { ChargeDesk, Hold } from '../charging/charge.desk.js';
import type { ResolutionPost } from '../charging/resolution.post.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import { serviceUnavailable } from '../http/refusal.js';
import { fitToModel, type FittedVideo, type VideoCreation } from './video-request.js';
import type { ViewedTask } from './video.view.js';

export interface VideoCall {
  caller: Caller;
  asked: VideoCreation;
  dialect: Dialect;
  requestId: string;
}

/** A task on its way through the creation, after its row was saved. */
interface Draft extends VideoCall {
  id: string;
  chargeId: string;
  model: CatalogModel;
  fitted: FittedVideo;
  createdAtMs: number;
}

export interface VideoCreationParts {
  catalog: CatalogCache;
  desk: ChargeDesk;
  post: ResolutionPost;
  tasks: TaskStore;
  upstreams: Upstreams;
  config: GatewayConfig;
  clock: Clock;
  metrics: GatewayMetrics;
  log: Logger;
  /** Called after an outbox row was committed, so that it leaves at once. */
  wakeOutbox: () => void;
}

/**
 * Creates video tasks as design.md 4 says, in its order: row, hold, permission, upstream, acceptance. From the row on,
 * a crash at any point leaves a task that a sweep can finish; from the upstream's acceptance on, the client gets a 200.
 */
export class VideoCreator {
  constructor(private readonly parts: VideoCreationParts) {}

  /** @throws ApiError; then nothing stays charged */
  async create(call: VideoCall): Promise<ViewedTask> {
    const { catalog, tasks, clock, config } = this.parts;
    const current = await catalog.get();
    const { caller, asked, dialect } = call;
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, 'video');
    const fitted = fitToModel(asked, model);
    const channels = channelsFor(current, { model: model.id, group: caller.group });
    if (channels.length === 0) throw noLine(model.id);

    const draft: Draft = {
      ...call,
      model,
      fitted,
      id: newId(),
      chargeId: newId(),
      createdAtMs: clock.nowMs(),
    };
    await tasks.insertCreated({
      id: draft.id,
      kind: 'video',
      accountId: caller.accountId,
      keyId: caller.keyId,
      chargeId: draft.chargeId,
      dialect,
      modelId: model.aliasOf ?? model.id,
      requestedModel: model.id,
      request: requestOf(draft),
      seconds: fitted.seconds,
      deadlineMs: config.taskDeadlineMs,
    });
    const hold = await this.hold(draft);
    await this.submit(draft, hold, channels);
    return viewOf(draft, hold);
  }

  private async hold(draft: Draft): Promise<Hold> {
    const { desk, tasks } = this.parts;
    const { caller, model, requestId, chargeId, id, fitted } = draft;
    const outcome = await desk.hold({
      chargeId,
      caller,
      model,
      units: BigInt(fitted.seconds),
      deadlineMs: null,
      taskId: id,
      requestId,
    });
    if (outcome.kind === 'held') return outcome.hold;
    const { error } = outcome;
    await this.orLeaveToSweep(draft, () =>
      outcome.kind === 'refused'
        ? tasks.toRefused(id, { code: error.code, message: error.message })
        : this.failTask(draft, { error, channelId: null, from: 'created' }),
    );
    throw error;
  }

  /** Returns when the task is with the upstream, or with a sweep. Only who wins the move to `submitting` may call the upstream; between channels the permission is renewed. */
  private async submit(draft: Draft, hold: Hold, channels: readonly Channel[]): Promise<void> {
    const { tasks } = this.parts;
    let channelId: string | null = null;
    for (const channel of channels) {
      const target = { channelId: channel.id, upstreamModel: upstreamModel(channel, draft.model) };
      const mayCall = await this.orLeaveToSweep(draft, () =>
        channelId === null
          ? tasks.toSubmitting(draft.id, { ...target, heldAmount: hold.amount })
          : tasks.retarget(draft.id, target),
      );
      // Whoever was faster, or the sweep after an unclear write, decides what becomes of the task; polls will tell.
      if (mayCall !== true) return;
      const outcome = await this.callUpstream(draft, channel);
      if (outcome.kind === 'accepted') return this.accepted(draft, outcome);
      this.report(draft, channel, outcome);
      if (outcome.kind === 'unknown') return this.unclear(draft);
      if (outcome.kind === 'refused') {
        const error = new ApiError(outcome.code, outcome.message, { status: outcome.status });
        return this.fail(draft, hold, { error, channelId: channel.id });
      }
      channelId = channel.id;
    }
    return this.fail(draft, hold, { error: noLine(draft.model.id), channelId });
  }

  private async callUpstream(draft: Draft, channel: Channel): Promise<CreateOutcome> {
    const { upstreams, metrics, config } = this.parts;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), config.videoCreateLimitMs);
    const stop = metrics.upstreamSeconds.startTimer({ channel: channel.id, operation: 'video' });
    crashPoint('upstream.before');
    const { prompt, aspectRatio, resolution } = requestOf(draft);
    const outcome = await upstreams.adapterFor(channel.protocol).createVideo(
      channel,
      {
        model: upstreamModel(channel, draft.model),
        prompt,
        seconds: draft.fitted.seconds,
        aspectRatio,
        resolution,
      },
      { idempotencyKey: draft.id, signal: limit.signal },
    );
    clearTimeout(timer);
    stop({ outcome: outcome.kind });
    if (outcome.kind === 'accepted') crashPoint('upstream.accepted');
    return outcome;
  }

  /** Committed before the 200. If it cannot be, the task stays `submitting` and the sweep takes it up by its key. */
  private async accepted(draft: Draft, { upstreamId }: Accepted): Promise<void> {
    const { tasks, config, log } = this.parts;
    const won = await this.orLeaveToSweep(draft, () =>
      tasks.toSubmitted(draft.id, { upstreamId, firstPollMs: config.firstPollMs }),
    );
    if (won === false) {
      log.error(
        { taskId: draft.id, requestId: draft.requestId },
        'an upstream accepted a task that was over',
      );
      await this.orLeaveToSweep(draft, () =>
        tasks.noteUnbilledCost(draft.id, `accepted upstream as ${upstreamId} after the task had ended`),
      );
    }
  }

  private async unclear(draft: Draft): Promise<void> {
    const { tasks, config } = this.parts;
    await this.orLeaveToSweep(draft, () => tasks.toUnknown(draft.id, config.firstPollMs));
  }

  /**
   * Ends the task and announces it in one transaction, then has the money given back before the error goes out. If a
   * sweep has taken the task meanwhile, the error would be a lie: the work may still be done.
   */
  private async fail(
    draft: Draft,
    hold: Hold,
    failure: { error: ApiError; channelId: string | null },
  ): Promise<void> {
    const { error, channelId } = failure;
    const won = await this.orLeaveToSweep(draft, () =>
      this.failTask(draft, { ...failure, from: 'submitting' }),
    );
    if (won === false) return;
    await this.parts.post.release(hold, hold.accountId, {
      delivered: null,
      channel: channelId,
      reason: { code: error.code, message: error.message },
    });
    throw error;
  }

  private async failTask(
    draft: Draft,
    failure: { error: ApiError; channelId: string | null; from: 'created' | 'submitting' },
  ): Promise<boolean> {
    const { error, channelId, from } = failure;
    const ending = {
      id: draft.id,
      kind: 'video' as const,
      chargeId: draft.chargeId,
      accountId: draft.caller.accountId,
      channelId,
    };
    const won = await this.parts.tasks.toFailed(
      ending,
      { code: error.code, message: error.message },
      { from },
    );
    this.parts.wakeOutbox();
    return won;
  }

  /** What the database did not take in, a sweep finds and finishes; the client's answer does not depend on it. */
  private async orLeaveToSweep<T>(draft: Draft, write: () => Promise<T>): Promise<T | undefined> {
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

  private report(draft: Draft, channel: Channel, outcome: Exclude<CreateOutcome, Accepted>): void {
    const { id, requestId } = draft;
    const { kind, upstreamStatus } = outcome;
    const reason = outcome.kind === 'refused' ? outcome.code : outcome.reason;
    const facts = { taskId: id, requestId, channel: channel.id, kind, upstreamStatus, reason };
    this.parts.log.warn(facts, 'an upstream did not accept a video');
  }
}

function requestOf({ asked, fitted }: Draft): Task['request'] {
  return {
    prompt: asked.prompt,
    ...(asked.size === undefined ? {} : { size: asked.size }),
    ...(asked.aspectRatio === undefined ? {} : { aspectRatio: asked.aspectRatio }),
    ...(fitted.resolution === undefined ? {} : { resolution: fitted.resolution }),
  };
}

function viewOf(draft: Draft, hold: Hold): ViewedTask {
  return {
    id: draft.id,
    dialect: draft.dialect,
    state: 'created',
    requestedModel: draft.model.id,
    request: requestOf(draft),
    seconds: draft.fitted.seconds,
    heldAmount: hold.amount,
    progress: 0,
    errorCode: null,
    errorMessage: null,
    createdAtMs: draft.createdAtMs,
    endedAtMs: null,
    expiresAtMs: null,
  };
}

function upstreamModel(channel: Channel, model: CatalogModel): string {
  return channel.models.get(model.id) ?? model.id;
}

function noLine(model: string): ApiError {
  return serviceUnavailable(`No line for ${model} is free at the moment. Nothing was charged; please retry.`);
}
