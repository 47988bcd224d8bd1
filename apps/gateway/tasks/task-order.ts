import type { CatalogModel, Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { ApiError } from '#platform/errors.js';
import type { Dimensions } from '#pricing/rates.js';
import type { Task, TaskRequest } from '#tasks/task.js';
import type { Dialect } from '#tasks/task-state.js';
import type { CreateOutcome } from '#upstream/outcomes.js';
import type { CreateOptions } from '#upstream/protocol.js';
import type { ChannelEntry } from '../charging/channel-entry.js';

/** A checked task, ready to be priced and executed. */
export interface TaskOrder {
  readonly kind: Task['kind'];
  readonly caller: Caller;
  readonly requestId: string;
  readonly dialect: Dialect;
  readonly model: CatalogModel;
  /** Billed units: seconds of a video, 1 for an asset. */
  readonly units: number;
  readonly dimensions: Dimensions;
  /** The stored request, from which the create can be repeated. */
  readonly request: TaskRequest;
  /** The channels that can take it, best first; at least one. */
  readonly channels: readonly Channel[];
  /** Reads what calls need and prices do not, before anything is held. @throws ApiError */
  load?(): Promise<unknown>;
  /** Calls one of them. */
  create(channel: Channel, task: SentTask, options: CreateOptions): Promise<CreateOutcome>;
}

/** What an upstream is asked, with its own name of the model. */
type SentTask = Pick<Task, 'request'> & { upstreamModel: string };

/** A task during creation, from just before its row is saved. */
export interface TaskDraft extends TaskOrder {
  readonly id: string;
  readonly chargeId: string;
  readonly createdAtMs: number;
  readonly entry: ChannelEntry;
}

/** Why a task ends before any upstream works on it, and the last upstream's answer. */
export interface TaskFailure {
  readonly error: ApiError;
  readonly channelId: string | null;
  readonly upstreamStatus: number | null;
}
