import type { Channel } from '#catalog/catalog.js';
import { LongText } from '#platform/http/long-text.js';
import {
  ANOTHER_TASK,
  asObject,
  asText,
  imagesFailed,
  isOfAnother,
  notAnswered,
  readDetail,
  readObject,
  unknownWord,
} from '../answers.js';
import { ChannelCalls, urlOf } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type { CreateOutcome, ImageEditRequest, ImageOutcome, ImageRequest, InputImage } from '../outcomes.js';
import { type ImagesPending, pendingAfter, waitForImages } from '../polled-images.js';
import type { Protocol } from '../protocol.js';
import { severalImages } from '../several-images.js';

/** Black Forest Labs: one image per request, polled at the vendor's address. Edits have their images in the same request. */
export class BflProtocol implements Protocol {
  static readonly families = ['image'] as const;
  readonly probe = { path: '/v1/credits' };
  readonly calls: ChannelCalls;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials, errorOf: readDetail });
  }

  generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const ask = () => this.image(channel, request, { input: {}, signal });
    return severalImages(channel, { n: request.n, signal, ask });
  }

  editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const input = editFields(request);
    const ask = () => this.image(channel, request, { input, signal });
    return severalImages(channel, { n: request.n, signal, ask });
  }

  private async image(
    channel: Channel,
    request: ImageRequest,
    { input, signal }: { input: object; signal: AbortSignal },
  ): Promise<ImageOutcome> {
    const created = await this.calls.createTask(channel, `/v1/${encodeURIComponent(request.model)}`, {
      json: { ...imageFields(request), ...input },
      signal,
      read: (answer) => readCreated(answer, channel),
    });
    const poll = async (address: string) => {
      const { origin, pathname, search, searchParams } = new URL(address);
      const result = await this.calls.get({ ...channel, baseUrl: origin }, pathname + search, { signal });
      return readState(result, searchParams.get('id') ?? '');
    };
    return waitForImages(created, { poll, signal });
  }
}

/** The vendor's own hosts: a request is polled at the one that accepted it. */
const VENDORS_HOST = /(?:^|\.)bfl\.(?:ai|ml)$/;

/** A polling address receives the key, so it must be the channel's own or, if that is the vendor's, another of the vendor's. */
function isOfVendor(address: URL, base: URL): boolean {
  if (address.origin === base.origin) return true;
  const hosts = [address, base].every(({ hostname }) => VENDORS_HOST.test(hostname));
  return hosts && address.protocol === 'https:' && address.port === '';
}

/** Reads an accepted request. Its id is its polling address. Relays pass on the vendor's address, which is not theirs. */
function readCreated(answer: HttpAnswer, channel: Channel): CreateOutcome {
  const body = readObject(answer.body);
  const upstreamStatus = answer.status;
  const [id, named] = [asText(body?.['id']), asText(body?.['polling_url']) ?? ''];
  if (id === undefined) return { kind: 'unknown', reason: 'a success without an id', upstreamStatus };
  const own = urlOf(channel, '/v1/get_result');
  const address = URL.canParse(named) && isOfVendor(new URL(named), own) ? new URL(named) : own;
  address.searchParams.set('id', id);
  return { kind: 'accepted', upstreamId: address.href, upstreamStatus };
}

/** The outcome of a finished request. Any other word says nothing, also `Task not found` for an accepted one. */
const MODERATED = ['Request Moderated', 'Content Moderated'];

function readState(result: HttpAnswer | HttpFailure, id: string): ImageOutcome | ImagesPending {
  if (result.kind === 'failure' || result.status > 299) return pendingAfter(notAnswered(result));
  const body = readObject(result.body);
  if (isOfAnother(body, id)) return pendingAfter(notAnswered(result, ANOTHER_TASK));
  const upstreamStatus = result.status;
  const word = asText(body?.['status']) ?? '';
  if (MODERATED.includes(word))
    return imagesFailed({ code: 'moderation', message: `${word}.` }, upstreamStatus);
  if (word === 'Error') return imagesFailed({ code: '', message: 'The generation failed.' }, upstreamStatus);
  if (word !== 'Ready') return pendingAfter(notAnswered(result, unknownWord(word)));
  const url = asText(asObject(body?.['result'])?.['sample']);
  if (url !== undefined) return { kind: 'delivered', images: [{ url }], upstreamStatus };
  return { kind: 'unknown', reason: 'a result without an image', upstreamStatus };
}

function imageFields({ prompt, size = '', aspectRatio, extras }: ImageRequest): object {
  const [, width, height] = (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size) ?? []).map(Number);
  return { ...extras, prompt, width, height, aspect_ratio: aspectRatio, output_format: 'png' };
}

/** Images are sent as plain base64: the first, the second and so on. */
function editFields({ images }: ImageEditRequest): object {
  const base64 = ({ bytes }: InputImage) => LongText.base64(bytes);
  const nameOf = (index: number) => (index === 0 ? 'input_image' : `input_image_${index + 1}`);
  const fields: [string, LongText][] = images.map((image, index) => [nameOf(index), base64(image)]);
  return Object.fromEntries(fields);
}

function credentials({ apiKey }: Channel): Record<string, string> {
  return { 'x-key': apiKey };
}
