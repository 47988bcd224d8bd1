import { randomUUID } from 'node:crypto';
import { VendorRefusal } from '../answers.js';
import { type Directives, type Fault, readDirectives, refuseAsOrdered } from '../directives.js';
import { alterationOf, keepEdit } from '../edits.js';
import { addressOf, drawingOf, drawingsOf, type ImageOrder } from '../images.js';
import { answered, shownId, spoilPoll } from '../task-calls.js';
import { type Exchange, publicOriginOf, type Vendor } from '../vendor.js';
import {
  type ImageJob,
  stateAt,
  type VendorTask,
  type VendorTasks,
  type VendorTaskState,
  type VideoTask,
} from '../vendor-tasks.js';
import { readVideoTask } from '../videos.js';
import { announceEnd } from '../webhooks/task-webhooks.js';

/** The order of an image, from its vendor's fields. */
export interface JobOrder {
  model: string;
  order: ImageOrder;
  /** Images to edit. */
  originals: readonly Buffer[];
  /** What the vendor refuses only when it works on the task, which exists by then. */
  late: readonly Fault[];
}

/** Begins the work on images. Undefined if the prompt requests no answer. @throws VendorRefusal */
export async function acceptImages(
  vendor: Vendor,
  exchange: Exchange,
  { model, order, originals, late }: JobOrder,
): Promise<ImageJob | undefined> {
  vendor.stats.imagesRequests += 1;
  const directives = readDirectives(order.prompt);
  refuseAtOnce(directives.faults, late);
  const [original] = originals;
  const job: ImageJob = {
    id: randomUUID(),
    model,
    prompt: order.prompt,
    faults: directives.faults,
    createdAtMs: vendor.clock.nowMs(),
    workMs: directives.workMs ?? vendor.settings.imageMs,
    spoiledPolls: 0,
    idempotencyKey: null,
    inputHash: '',
    addresses: await addressesOf(vendor, exchange, { order, directives, original }),
  };
  vendor.jobs.add(job);
  vendor.stats.imagesMade += job.addresses.length;
  return answered(vendor, exchange, job);
}

async function addressesOf(
  vendor: Vendor,
  exchange: Exchange,
  of: { order: ImageOrder; directives: Directives; original: Buffer | undefined },
): Promise<string[]> {
  const { order, directives, original } = of;
  const { faults } = directives;
  const drawing = (index: number) =>
    original ? alterationOf({ order, directives, original }, index) : drawingOf(order, directives, index);
  const drawings = drawingsOf({ order, directives, drawing });
  return Promise.all(
    drawings.map(async (each) =>
      original
        ? keepEdit(vendor, exchange, { drawing: each, faults })
        : addressOf(vendor, exchange, { drawing: each, faults }),
    ),
  );
}

interface FilmOrder extends Pick<JobOrder, 'late'> {
  body: Record<string, unknown>;
  dialect: VideoTask['dialect'];
  /** The webhook URL for its end. */
  webhook?: unknown;
}

/** Begins the work on a video with xAI's fields. @throws VendorRefusal */
export async function acceptFilm(
  vendor: Vendor,
  exchange: Exchange,
  { body, dialect, late, webhook }: FilmOrder,
) {
  vendor.stats.videoCreates += 1;
  const task = readVideoTask(vendor, body, dialect);
  refuseAtOnce(task.faults, late);
  vendor.videos.add(task);
  vendor.stats.videosAccepted += 1;
  announceEnd(vendor, task, webhook);
  return answered(vendor, exchange, task);
}

function refuseAtOnce(faults: readonly Fault[], late: readonly Fault[]): void {
  refuseAsOrdered(faults.filter((fault) => !late.includes(fault)));
}

/** For a poll: the state of a task, or an unknown word instead. */
function polled<T extends VendorTask>(
  vendor: Vendor,
  tasks: VendorTasks<T>,
  id: string,
): { task: T; state: VendorTaskState; strange: string | undefined; shown: string } {
  vendor.stats.polls += 1;
  const task = tasks.find(id);
  if (!task) throw new VendorRefusal(404, 'not_found', 'Request not found');
  const strange = spoilPoll(tasks, task);
  return { task, strange, shown: shownId(tasks, task), state: stateAt(task, vendor.clock.nowMs()) };
}

/** Refuses the result of a task at its end, if its prompt requests so. @throws VendorRefusal */
export function refuseResult({ faults }: VendorTask, late: readonly Fault[]): void {
  refuseAsOrdered(faults.filter((fault) => late.includes(fault)));
}

/** The URL of a task's video. */
export function filmUrl(vendor: Vendor, { request }: Exchange, { id }: VendorTask): string {
  return `${publicOriginOf(vendor, request)}/files/videos/${id}.mp4`;
}

/** `512x256` from two sides, if both are given. */
export function sizeOf({ width, height }: { width?: unknown; height?: unknown }): string | undefined {
  return Number(width) && Number(height) ? `${Number(width)}x${Number(height)}` : undefined;
}

/** Cancels a job, and counts it. @returns whether it was in time */
export function cancelJob(vendor: Vendor, id: string): boolean {
  const task = vendor.jobs.find(id) ?? vendor.videos.find(id);
  if (!task) throw new VendorRefusal(404, 'not_found', 'Request not found');
  const isInTime = stateAt(task, vendor.clock.nowMs()).phase !== 'completed';
  if (isInTime) vendor.stats.jobsCancelled += 1;
  return isInTime;
}

/** A job for images or for a video. */
export function pollOf(vendor: Vendor, id: string) {
  return vendor.jobs.find(id) ? polled(vendor, vendor.jobs, id) : polled(vendor, vendor.videos, id);
}
