import { pause, holdUntilClientLeaves, type Exchange, type Vendor } from '../vendor.js';
import type { Drawing } from '../drawing.worker.js';
import type { Directives } from '../directives.js';

/** The tokens that OpenAI counts for an image of low quality, and for a partial image. */
const IMAGE_TOKENS = 272;
const PARTIAL_TOKENS = 100;

export interface EventWork {
  prompt: string;
  partialImages: number;
  directives: Directives;
  drawing: Drawing;
  /** `image_generation` or `image_edit`. */
  name: string;
}

/** One image as OpenAI streams it: partial images, then the final one with its usage. */
export async function sendImageEvents(vendor: Vendor, exchange: Exchange, work: EventWork): Promise<void> {
  const { response } = exchange;
  const { faults } = work.directives;
  const b64_json = (await vendor.renderer.draw(work.drawing)).toString('base64');
  const common = { b64_json, created_at: Math.floor(vendor.clock.nowMs() / 1000), output_format: 'png' };
  vendor.stats.imagesMade += 1;
  if (faults.includes('accept-then-timeout')) return holdUntilClientLeaves(vendor, response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const pieceMs = faults.includes('slow-bytes') ? vendor.settings.slowMs / (work.partialImages + 1) : 0;
  for (let at = 0; at < work.partialImages; at += 1) {
    send(exchange, `${work.name}.partial_image`, { ...common, partial_image_index: at });
    await pause(vendor, pieceMs);
  }
  if (faults.includes('stream-cut') || faults.includes('truncated'))
    return void response.write(':\n\n', () => response.destroy());
  if (faults.includes('never-finish')) return holdUntilClientLeaves(vendor, response);
  if (faults.includes('mid-stream-error')) {
    const error = { message: 'It failed as ordered.', type: 'server_error', code: 'server_error' };
    send(exchange, 'error', { error });
    return void response.end();
  }
  send(exchange, `${work.name}.completed`, { ...common, ...usageOf({ ...work, images: 1 }) });
  response.end();
}

/** The token usage that the answer reports. None if requested so. */
export function usageOf(work: Omit<EventWork, 'drawing'> & { images: number }): object {
  const { prompt, images, partialImages, name, directives } = work;
  if (directives.faults.includes('no-usage')) return {};
  const text = prompt.split(' ').length;
  const image = name === 'image_edit' ? IMAGE_TOKENS : 0;
  const output = (directives.tokens ?? IMAGE_TOKENS) * images + partialImages * PARTIAL_TOKENS;
  const details = { text_tokens: text, image_tokens: image };
  const [input, total] = [text + image, text + image + output];
  return {
    usage: { input_tokens: input, output_tokens: output, total_tokens: total, input_tokens_details: details },
  };
}

function send({ response }: Exchange, type: string, fields: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}
