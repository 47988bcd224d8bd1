import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '#platform/errors.js';
import { VendorRefusal } from './answers.js';
import type { Fault } from './directives.js';
import type { Drawing } from './drawing.worker.js';

/** An accepted task. Its progress is not stored but follows from the clock, so a restart loses nothing. */
export interface VendorTask {
  id: string;
  model: string;
  prompt: string;
  faults: Fault[];
  createdAtMs: number;
  workMs: number;
  /** The polls affected by a fault so far. */
  spoiledPolls: number;
  idempotencyKey: string | null;
  /** Distinguishes another request under the same idempotency key from a repeat. */
  inputHash: string;
}

export interface VideoTask extends VendorTask {
  /** The format it was created in, which decides how its polls are worded. */
  dialect: 'openai' | 'xai' | 'google' | 'vertex' | 'fal' | 'replicate' | 'ark';
  /** The size that the OpenAI format shows. The file itself is smaller. */
  size: string;
  /** Whether sound was requested. Null if not specified. */
  audio: boolean | null;
  drawing: Drawing;
  /** The video that it is a remix of. */
  remixOf?: string;
}

/** Images of a vendor that makes them as tasks. */
export interface ImageJob extends VendorTask {
  /** The URLs of the images once they are finished. */
  addresses: string[];
}

export interface MeshTask extends VendorTask {
  mode: 'draft' | 'texture';
  /** The colour of a texture. */
  hue: number;
  /** The only path where it is found, for vendors with separate paths for each operation. */
  work?: string;
}

export interface VendorTaskState {
  phase: 'queued' | 'working' | 'completed' | 'failed';
  /** 0 to 100. */
  progress: number;
}

/** The share of the work time that a task is queued. */
const QUEUED_PART = 0.1;

export function endOf(task: VendorTask): number {
  return task.createdAtMs + task.workMs;
}

/** The state of a task at a given time: a pure function of the task and the clock. */
export function stateAt(task: VendorTask, nowMs: number): VendorTaskState {
  const part = task.workMs === 0 ? 1 : Math.max(0, (nowMs - task.createdAtMs) / task.workMs);
  if (part < QUEUED_PART) return { phase: 'queued', progress: 0 };
  if (part < 1 || task.faults.includes('never-finish')) {
    return { phase: 'working', progress: Math.min(99, Math.floor(part * 100)) };
  }
  if (task.faults.includes('fail-late')) return { phase: 'failed', progress: 100 };
  return { phase: 'completed', progress: 100 };
}

/** About a kilobyte each. Ended tasks are evicted, long after a relay has stopped asking for them. */
const MAX_TASKS = 20_000;

/** The accepted tasks of one kind, in memory and, with a folder, in one small file each, so that they survive a killed process. */
export class VendorTasks<T extends VendorTask> {
  private readonly tasks = new Map<string, T>();
  private readonly idsByKey = new Map<string, string>();
  private readonly maxTasks: number;

  /**
   * Loads the files of the folder that end in `suffix`. No other kind's suffix may end in it.
   * @throws OperatorError if the folder cannot be used.
   */
  constructor(
    private readonly stateDir: string | undefined,
    private readonly suffix: string,
    options: { maxTasks?: number } = {},
  ) {
    this.maxTasks = options.maxTasks ?? MAX_TASKS;
    if (stateDir) this.load(stateDir);
  }

  find(id: string): T | undefined {
    return this.tasks.get(id);
  }

  findByKey(idempotencyKey: string): T | undefined {
    return this.tasks.get(this.idsByKey.get(idempotencyKey) ?? '');
  }

  /** Oldest first. */
  list(): T[] {
    return [...this.tasks.values()];
  }

  /** Stores a new task. @throws VendorRefusal 503 if the vendor has too many open tasks. */
  add(task: T): void {
    if (this.tasks.size >= this.maxTasks) this.evictOldestEnded(task.createdAtMs);
    this.save(task);
    this.keep(task);
  }

  /**
   * Writes a task's file. Synchronous, so that no task is visible before it is stored. Without a sync to disk,
   * because the file has to survive a killed process, not a power cut.
   */
  save(task: T): void {
    if (!this.stateDir) return;
    const path = join(this.stateDir, task.id + this.suffix);
    writeFileSync(`${path}.tmp`, JSON.stringify(task), { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  }

  clear(): void {
    for (const task of this.list()) this.drop(task);
  }

  private keep(task: T): void {
    this.tasks.set(task.id, task);
    if (task.idempotencyKey !== null) this.idsByKey.set(task.idempotencyKey, task.id);
  }

  private drop(task: T): void {
    this.tasks.delete(task.id);
    if (task.idempotencyKey !== null) this.idsByKey.delete(task.idempotencyKey);
    if (this.stateDir) rmSync(join(this.stateDir, task.id + this.suffix), { force: true });
  }

  private evictOldestEnded(nowMs: number): void {
    for (const task of this.tasks.values()) {
      const { phase } = stateAt(task, nowMs);
      if (phase === 'completed' || phase === 'failed') return this.drop(task);
    }
    throw new VendorRefusal(503, 'service_unavailable', 'Too many tasks are in progress.');
  }

  private load(stateDir: string): void {
    try {
      mkdirSync(stateDir, { recursive: true });
      // It contains people's prompts. An earlier version made the file readable to everyone.
      chmodSync(stateDir, 0o700);
      const names = readdirSync(stateDir);
      for (const name of names.filter((each) => each.endsWith(`${this.suffix}.tmp`)))
        rmSync(join(stateDir, name));
      names
        .filter((name) => name.endsWith(this.suffix))
        .flatMap((name) => readTask<T>(join(stateDir, name)))
        .sort((one, other) => one.createdAtMs - other.createdAtMs)
        .forEach((task) => this.keep(task));
    } catch (error) {
      throw new OperatorError(
        `The sandbox cannot use its state folder ${stateDir}: ${(error as Error).message}.`,
      );
    }
  }
}

/** A file that a power cut left empty or torn is a lost task; it must not keep the vendor from starting. */
function readTask<T>(path: string): T[] {
  const text = readFileSync(path, 'utf8');
  try {
    return [JSON.parse(text) as T];
  } catch {
    rmSync(path);
    return [];
  }
}
