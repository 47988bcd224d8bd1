import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createXai } from '@ai-sdk/xai';
import {
  APICallError,
  experimental_generateVideo as generateVideo,
  generateImage,
  type ImageModel,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instantPng } from '#apps/sandbox-upstream/images.js';
import { closeClean, type Customer, type Relay, startRelay, until } from '../support/relay.js';

const PNG = 'image/png';
const QUICK = { pollIntervalMs: 100, pollTimeoutMs: 180_000 };

/** The paid calls that a client made, by path. */
interface Counted {
  posts: string[];
  fetch: typeof fetch;
}

function counted(): Counted {
  const posts: string[] = [];
  const counting: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    if (init?.method === 'POST') posts.push(new URL(url).pathname);
    return fetch(input, init);
  };
  return { posts, fetch: counting };
}

/** The SDK's own download refuses loopback addresses, as it should. */
async function download({ url }: { url: URL }): Promise<{ data: Uint8Array; mediaType: string | undefined }> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the download was answered ${response.status}`);
  const data = new Uint8Array(await response.arrayBuffer());
  return { data, mediaType: response.headers.get('content-type') ?? undefined };
}

const IMAGE_PROVIDERS = ['openai', 'openai-compatible', 'xai', 'google'] as const;
type ProviderName = (typeof IMAGE_PROVIDERS)[number];
type Settings = { apiKey: string; baseURL: string; fetch: typeof fetch };

/** Each provider's image model, set up as its manual says. */
const imageModels: Record<ProviderName, (settings: Settings, model: string) => ImageModel> = {
  openai: (settings, model) => createOpenAI(settings).image(model),
  'openai-compatible': (settings, model) =>
    createOpenAICompatible({ name: 'relay', ...settings }).imageModel(model),
  xai: (settings, model) => createXai(settings).image(model),
  google: (settings, model) => createGoogleGenerativeAI(settings).image(model),
};

describe('images and videos, by the AI SDK', () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => closeClean(relay));

  const settingsOf = (customer: Customer, path: string, { fetch: counting }: Counted): Settings => ({
    apiKey: customer.apiKey,
    baseURL: relay.baseUrl + path,
    fetch: counting,
  });

  function imageModelOf(
    provider: ProviderName,
    customer: Customer,
    calls: Counted,
    model?: string,
  ): ImageModel {
    const path = provider === 'google' ? '/v1beta' : '/v1';
    const usual = provider === 'google' ? 'imgmodel-4' : 'vendora-imagine-image';
    return imageModels[provider](settingsOf(customer, path, calls), model ?? usual);
  }

  it.each<[ProviderName, number, string, string[]]>([
    // This provider makes one image per call for models that it does not know.
    ['openai', 2, '0.96', ['/v1/images/generations', '/v1/images/generations']],
    ['openai-compatible', 2, '0.96', ['/v1/images/generations']],
    ['xai', 5, '0.9', ['/v1/images/generations', '/v1/images/generations']],
    ['google', 2, '0.94', ['/v1beta/models/imgmodel-4:predict']],
  ])('%s makes %d images', async (provider, n, left, paths) => {
    const customer = await relay.customer('1');
    const calls = counted();
    const { images } = await generateImage({
      model: imageModelOf(provider, customer, calls),
      prompt: 'a lighthouse',
      n,
      ...(provider === 'openai' || provider === 'openai-compatible'
        ? { size: '512x512' as const }
        : { aspectRatio: '16:9' as const }),
    });
    expect(images).toHaveLength(n);
    for (const image of images) {
      expect(image.mediaType).toBe(PNG);
      expect(Buffer.from(image.uint8Array).subarray(1, 4).toString()).toBe('PNG');
    }
    expect(calls.posts).toEqual(paths);
    expect(await customer.balance()).toEqual({ main: left, held: '0' });
  });

  it.each<ProviderName>(['openai', 'openai-compatible', 'xai'])(
    '%s edits one image and several',
    async (provider) => {
      const customer = await relay.customer('1');
      const calls = counted();
      const model = imageModelOf(provider, customer, calls, 'vendora-imagine-edit');
      for (const images of [[instantPng], [instantPng, instantPng]]) {
        const edited = await generateImage({ model, prompt: { text: 'at night', images } });
        expect(edited.image.mediaType).toBe(PNG);
      }
      expect(calls.posts).toEqual(['/v1/images/edits', '/v1/images/edits']);
      expect(await customer.balance()).toEqual({ main: '0.96', held: '0' });
    },
  );

  it.each(IMAGE_PROVIDERS)('%s reads the refusal of a prompt, and does not retry it', async (provider) => {
    const customer = await relay.customer('1');
    const calls = counted();
    const model = imageModelOf(provider, customer, calls);
    const error = await errorOf(generateImage({ model, prompt: 'no [[fault:moderation]]' }));
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false });
    expect(error.message).toMatch(/content/i);
    expect(JSON.stringify(error.data)).toContain('content_policy_violation');
    expect(calls.posts).toHaveLength(1);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it.each(IMAGE_PROVIDERS)(
    '%s shows an unknown model and an empty balance after one call',
    async (provider) => {
      const poor = await relay.customer('0.001');
      const calls = counted();
      const unknown = imageModelOf(provider, poor, calls, 'imgmodel-nobody-knows');
      expect(await errorOf(generateImage({ model: unknown, prompt: 'x' }))).toMatchObject({
        statusCode: 404,
      });
      const dear = imageModelOf(provider, poor, calls);
      const error = await errorOf(generateImage({ model: dear, prompt: 'x' }));
      expect(error).toMatchObject({ statusCode: 403, isRetryable: false });
      expect(JSON.stringify(error.data)).toContain('insufficient_user_quota');
      expect(calls.posts).toHaveLength(2);
    },
  );

  it('google shows the right base URL if it uses the wrong one', async () => {
    const customer = await relay.customer('1');
    const calls = counted();
    for (const [base, hint] of [
      ['/v1', 'to end in /v1beta instead of /v1.'],
      ['', 'to end in /v1beta.'],
    ] as const) {
      const model = createGoogleGenerativeAI(settingsOf(customer, base, calls)).image('imgmodel-4');
      const error = await errorOf(generateImage({ model, prompt: 'x' }));
      expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
      expect(error.message).toContain(hint);
    }
    expect(calls.posts).toHaveLength(2);
  });

  it.each(['/v1', '/vendora/v1'])(
    'xai makes a video below %s: create, poll, download, one charge',
    async (path) => {
      const customer = await relay.customer('1');
      const calls = counted();
      const { video } = await generateVideo({
        model: createXai(settingsOf(customer, path, calls)).video('vendora-imagine-video'),
        prompt: 'waves',
        duration: 4,
        aspectRatio: '16:9',
        resolution: '1280x720',
        providerOptions: { xai: QUICK },
        download,
      });
      expect(video.mediaType).toBe('video/mp4');
      expect(Buffer.from(video.uint8Array).subarray(4, 8).toString()).toBe('ftyp');
      expect(calls.posts).toEqual([`${path}/videos/generations`]);
      await until('the settlement', async () => (await customer.balance()).held === '0');
      expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
    },
  );

  it('google makes a video: operation, download with the key, one charge', async () => {
    const customer = await relay.customer('1');
    const calls = counted();
    const { video } = await generateVideo({
      model: createGoogleGenerativeAI(settingsOf(customer, '/v1beta', calls)).video('vidmodel-3'),
      prompt: 'waves',
      duration: 4,
      aspectRatio: '16:9',
      providerOptions: { google: QUICK },
      download,
    });
    expect(Buffer.from(video.uint8Array).subarray(4, 8).toString()).toBe('ftyp');
    expect(calls.posts).toEqual(['/v1beta/models/vidmodel-3:predictLongRunning']);
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
  });

  it.each(['xai', 'google'] as const)('%s shows a failed video, which costs nothing', async (provider) => {
    const customer = await relay.customer('1');
    const calls = counted();
    const prompt = 'late [[fault:fail-late]]';
    const error = await errorOf(
      provider === 'xai'
        ? generateVideo({
            model: createXai(settingsOf(customer, '/v1', calls)).video('vendora-imagine-video'),
            prompt,
            providerOptions: { xai: QUICK },
            download,
          })
        : generateVideo({
            model: createGoogleGenerativeAI(settingsOf(customer, '/v1beta', calls)).video('vidmodel-3'),
            prompt,
            providerOptions: { google: QUICK },
            download,
          }),
    );
    expect(error).toBeInstanceOf(Error);
    expect(calls.posts).toHaveLength(1);
    await until('the release', async () => (await customer.balance()).main === '1');
  });

  it('keeps polling while an upstream is down, without a second, charged create', async () => {
    const customer = await relay.customer('1');
    const calls = counted();
    await generateVideo({
      model: createXai(settingsOf(customer, '/v1', calls)).video('vendora-imagine-video'),
      prompt: 'deaf [[fault:poll-5xx]][[work:0.3]]',
      duration: 4,
      providerOptions: { xai: QUICK },
      download,
    });
    expect(calls.posts).toHaveLength(1);
  });

  it('refuses an image for a video, with a reason that the provider reads', async () => {
    const customer = await relay.customer('1');
    const calls = counted();
    const error = await errorOf(
      generateVideo({
        model: createXai(settingsOf(customer, '/v1', calls)).video('vendora-imagine-video'),
        prompt: { image: instantPng, text: 'waves' },
        providerOptions: { xai: QUICK },
        download,
      }),
    );
    expect(error).toMatchObject({ statusCode: 422, isRetryable: false });
    expect(error.message).toContain('image input is not supported');
    expect(calls.posts).toHaveLength(1);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  /** The error of the call itself. The SDK wraps it if it retried the call. */
  async function errorOf(work: Promise<unknown>): Promise<APICallError> {
    const error: unknown = await work.then(
      () => new Error('it succeeded'),
      (reason: unknown) => reason,
    );
    return error as APICallError;
  }
});
