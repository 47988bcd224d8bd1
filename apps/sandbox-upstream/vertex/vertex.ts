import { readJsonBody, sendJson, VendorRefusal } from '../answers.js';
import { countDownload, deliver } from '../delivery.js';
import { startVideo } from '../google.js';
import { shownId, spoilPoll } from '../task-calls.js';
import type { Exchange, Vendor } from '../vendor.js';
import { endOf, stateAt, type VideoTask } from '../vendor-tasks.js';
import { FAILURE, foundVideo } from '../videos.js';

const OPERATION = /^(.{1,200}\/models\/[\w.-]{1,100})\/operations\/([\w-]{1,64})$/;
/** The code of google.rpc.Status for a server error. */
const INTERNAL = 13;
const NOT_A_VIDEO = Buffer.from('This is not the video that was asked for.');

/** `POST .../models/{model}:predictLongRunning`; `model` is its whole path. */
export async function startOperation(vendor: Vendor, exchange: Exchange, model: string): Promise<void> {
  const task = await startVideo(vendor, exchange, { model, wire: 'vertex' });
  if (task) sendJson(exchange.response, 200, { name: `${task.model}/operations/${task.id}` });
}

/** `POST .../models/{model}:fetchPredictOperation`: the answer contains the video. */
export async function fetchOperation(vendor: Vendor, exchange: Exchange): Promise<void> {
  vendor.stats.polls += 1;
  const { operationName } = await readJsonBody(exchange.request);
  const [, model = '', id = ''] = OPERATION.exec(String(operationName)) ?? [];
  const task = foundVideo(vendor, id);
  if (task.model !== model) throw new VendorRefusal(404, 'not_found', 'There is no such operation.');
  const strange = spoilPoll(vendor.videos, task);
  const { phase } = stateAt(task, vendor.clock.nowMs());
  const name = `${task.model}/operations/${shownId(vendor.videos, task)}`;
  if (strange !== undefined || (phase !== 'failed' && phase !== 'completed'))
    return sendJson(exchange.response, 200, { name });
  if (phase === 'completed') return sendVideo(vendor, exchange, { task, name });
  const error = { code: INTERNAL, message: FAILURE.message, status: 'INTERNAL' };
  sendJson(exchange.response, 200, { name, done: true, error });
}

/** The first answer, which reports the end, has no fault. Faults of files apply from the second one on. */
async function sendVideo(
  vendor: Vendor,
  exchange: Exchange,
  { task, name }: { task: VideoTask; name: string },
): Promise<void> {
  if (vendor.clock.nowMs() > endOf(task) + vendor.settings.fileMs)
    throw new VendorRefusal(404, 'not_found', 'The operation has expired.');
  const earlier = countDownload(vendor, task.id);
  if (earlier > 0) vendor.stats.downloads += 1;
  const { faults } = task;
  const drawn = await vendor.renderer.draw(task.drawing);
  const video = faults.includes('bad-file') ? NOT_A_VIDEO : drawn;
  const videos = [{ bytesBase64Encoded: video.toString('base64'), mimeType: 'video/mp4' }];
  const response = {
    '@type': 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse',
    videos,
  };
  await deliver(vendor, exchange, {
    bytes: Buffer.from(JSON.stringify({ name, done: true, response })),
    contentType: 'application/json',
    faults: earlier === 0 ? [] : faults.filter((fault) => fault !== 'bad-file'),
  });
}
