import { randomUUID } from 'node:crypto';
import { signedHeaders } from '#platform/http/webhook-signature.js';
import { readJsonBody, sendJson, VendorRefusal } from '../answers.js';
import { type Exchange, pause, type Vendor } from '../vendor.js';
import type { VideoTask } from '../vendor-tasks.js';

/** The secret that the sandbox shares with a vendor's customer, for signing. */
export const WEBHOOK_SECRET = 'whsec_c2FuZGJveC1zaWducy1pdHMtd2ViaG9va3M=';
const SEND_MS = 10_000;

interface Message {
  headers: Record<string, string>;
  body: string;
}

/** Null: the vendor does not announce this end. */
type Signer = (vendor: Vendor, task: VideoTask, isFailed: boolean) => Message | null;

const signers: Partial<Record<VideoTask['dialect'], Signer>> = {
  fal: ({ webhookKeys, clock }, { id }, isFailed) => {
    const end = isFailed
      ? { status: 'ERROR', error: 'It failed as ordered.' }
      : { status: 'OK', error: null };
    const body = JSON.stringify({ request_id: id, gateway_request_id: id, ...end, payload: {} });
    return { body, headers: webhookKeys.headersOf(id, Math.floor(clock.nowMs() / 1000), body) };
  },
  replicate: (vendor, { id, model, prompt }, isFailed) => {
    const status = isFailed ? 'failed' : 'succeeded';
    return standard(vendor, { id, model, input: { prompt }, status });
  },
  openai: (vendor, { id }, isFailed) => {
    const type = isFailed ? 'video.failed' : 'video.completed';
    const event = { id: `evt_${randomUUID().replaceAll('-', '')}`, object: 'event', type, data: { id } };
    return standard(vendor, { ...event, created_at: Math.floor(vendor.clock.nowMs() / 1000) });
  },
  google: (vendor, task, isFailed) => (isFailed ? null : google(vendor, task)),
};

/** Google announces finished videos, and says nothing of failed ones. */
function google(vendor: Vendor, { id }: VideoTask): Message {
  const timestamp = new Date(vendor.clock.nowMs()).toISOString();
  const data = { id, output_file_uri: `/v1beta/files/${id}:download`, file_name: `files/${id}` };
  return standard(vendor, { type: 'video.generated', version: 'v1', timestamp, data });
}

function standard({ clock }: Vendor, content: object): Message {
  const body = JSON.stringify(content);
  const message = { id: `msg_${randomUUID()}`, timestamp: Math.floor(clock.nowMs() / 1000), body };
  return { body, headers: signedHeaders(message, [WEBHOOK_SECRET]) };
}

/** Sends a webhook once the work on a task is over, if it has a URL. Never retries. */
export function announceEnd(vendor: Vendor, task: VideoTask, address: unknown): void {
  const signed = signers[task.dialect];
  if (!signed || typeof address !== 'string' || !URL.canParse(address)) return;
  if (task.faults.includes('never-finish')) return;
  const send = async () => {
    await pause(vendor, task.workMs);
    const message = signed(vendor, task, task.faults.includes('fail-late'));
    if (message === null) return;
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...message.headers },
      body: message.body,
      redirect: 'manual',
      signal: AbortSignal.any([vendor.closing, AbortSignal.timeout(SEND_MS)]),
    });
    await response.body?.cancel();
  };
  // A receiver that is down has missed it.
  send().catch(() => undefined);
}

/** `POST /_sandbox/webhooks`: where OpenAI, or Google if `of` says so, sends the events of the project. */
export async function setEndpoint({ webhookKeys }: Vendor, { request, response }: Exchange): Promise<void> {
  const { url, of = 'openai' } = await readJsonBody(request);
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new VendorRefusal(400, 'invalid_value', 'The field "url" must be an address.');
  webhookKeys.endpoints.set(of, url);
  sendJson(response, 200, { url, secret: WEBHOOK_SECRET });
}
