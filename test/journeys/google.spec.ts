import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, GenerateVideosOperation, GoogleGenAI } from '@google/genai';
import { GoogleGenAI as GoogleGenAI3 } from 'google-genai-3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { GatedUpstream, POLLS } from '../support/gated-upstream.js';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGES = 'imgmodel-4';
const VIDEOS = 'vidmodel-3';
/** Models with Google's own names. */
const VEO = 'veo-3.1-generate-preview';
/** Its channel leads to an address where nobody listens. */
const DEAD = 'imagen-dead';

interface GoogleRefusal {
  error: { code: number; status: string; message: string; details: { reason: string }[] };
  code: string;
}

describe('the native style, by the Google SDK', () => {
  let relay: Relay;
  let upstream: GatedUpstream;

  beforeAll(async () => {
    relay = await startRelay();
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    const sandbox = { channel: 'sandbox', protocol: 'openai-xai', baseUrl: relay.sandboxUrl };
    await addModel(relay.fixture.owner, { id: VEO, like: VIDEOS, ...sandbox });
    const nobody = { channel: 'dead', protocol: 'gemini', baseUrl: 'http://127.0.0.1:9' };
    await addModel(relay.fixture.owner, { id: DEAD, like: IMAGES, times: 10, ...nobody });
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  const sdkOf = (customer: Customer) =>
    new GoogleGenAI({ apiKey: customer.apiKey, httpOptions: { baseUrl: relay.baseUrl } });

  /** Newer versions predict only in Vertex mode, which uses the same paths with these options. */
  const vertexOf = (customer: Customer) =>
    new GoogleGenAI3({
      vertexai: true,
      apiKey: customer.apiKey,
      apiVersion: 'v1beta',
      httpOptions: { baseUrl: relay.baseUrl },
    });

  it('makes images, each billed', async () => {
    const customer = await relay.customer('1');
    const { generatedImages = [] } = await sdkOf(customer).models.generateImages({
      model: IMAGES,
      prompt: 'a lighthouse',
      config: { numberOfImages: 2, aspectRatio: '16:9' },
    });
    expect(generatedImages).toHaveLength(2);
    for (const { image } of generatedImages) {
      expect(image?.mimeType).toBe('image/png');
      expect(
        Buffer.from(image?.imageBytes ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
    }
    expect(await customer.balance()).toEqual({ main: '0.94', held: '0' });
  });

  it('makes images with the newest version in Vertex mode', async () => {
    // Every call warns that the method will be removed in 2027.
    vi.spyOn(console, 'warn').mockImplementationOnce(() => undefined);
    const customer = await relay.customer('1');
    const { generatedImages = [] } = await vertexOf(customer).models.generateImages({
      model: `models/${IMAGES}`,
      prompt: 'a lighthouse',
    });
    expect(generatedImages[0]?.image?.mimeType).toBe('image/png');
    expect(await customer.balance()).toEqual({ main: '0.97', held: '0' });
  });

  it('also accepts the OpenAI body, and makes one image by default', async () => {
    const customer = await relay.customer('1');
    for (const body of [{ prompt: 'common' }, { model: IMAGES, prompt: 'common', response_format: 'url' }]) {
      const response = await customer.send(`/v1beta/models/${IMAGES}:predict`, json(body));
      expect(response.status).toBe(200);
      const { predictions } = (await response.json()) as { predictions: { bytesBase64Encoded: string }[] };
      expect(predictions).toHaveLength(1);
      expect(predictions[0]?.bytesBase64Encoded).toMatch(/^iVBOR/);
    }
    expect(await customer.balance()).toEqual({ main: '0.94', held: '0' });
  });

  it('makes images with another model, at its price, if the first is busy, and says so before', async () => {
    const customer = await relay.customer('1');
    const models = ['vendora-chat', IMAGES];
    const body = { instances: [{ prompt: 'a fox' }], parameters: { sampleCount: 2 }, models };
    const path = `/v1beta/models/${DEAD}:predict`;
    const dry = await customer.send(path, json({ ...body, dry_run: true }));
    expect(await dry.json()).toMatchObject({
      object: 'dry_run',
      model: DEAD,
      models: [
        { model: DEAD, amount: '0.6', units: '2' },
        { model: 'vendora-chat', available: false, error: { code: 'model_not_supported_here' } },
        { model: IMAGES, amount: '0.06' },
      ],
    });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    const answer = await customer.send(path, json(body));
    expect([answer.headers.get('x-served-model'), answer.headers.get('x-failed-models')]).toEqual([
      IMAGES,
      `${DEAD}=service_unavailable, vendora-chat=model_not_supported_here`,
    ]);
    expect(((await answer.json()) as { predictions: object[] }).predictions).toHaveLength(2);
    const { generatedImages } = await sdkOf(customer).models.generateImages({
      model: DEAD,
      prompt: 'a fox',
      config: { numberOfImages: 1, httpOptions: { extraBody: { models } } },
    });
    expect(generatedImages).toHaveLength(1);
    expect(await customer.balance()).toEqual({ main: '0.91', held: '0' });
  });

  it('makes images for each instance, charges the sum, and says which instance was refused', async () => {
    const customer = await relay.customer('1');
    const predict = async (...prompts: string[]) => {
      const instances = prompts.map((prompt) => ({ prompt }));
      const body = json({ instances, parameters: { sampleCount: 2 } });
      const answer = await customer.send(`/v1beta/models/${IMAGES}:predict`, body);
      return { status: answer.status, body: (await answer.json()) as { predictions: object[] } };
    };
    const both = await predict('a fox', 'an owl');
    const drawn = { mimeType: 'image/png', bytesBase64Encoded: expect.any(String) };
    expect(both).toEqual({ status: 200, body: { predictions: [drawn, drawn, drawn, drawn] } });
    expect(await customer.balance()).toEqual({ main: '0.88', held: '0' });
    const one = await predict('a fox [[fault:moderation]]', 'an owl');
    expect(one.body.predictions).toEqual([{ raiFilteredReason: expect.any(String) }, drawn, drawn]);
    expect(await customer.balance()).toEqual({ main: '0.82', held: '0' });
    const half = await predict('a fox', 'an owl [[fault:reject-503]]', 'a hare');
    const nothing = { raiFilteredReason: expect.stringContaining('Nothing was made') };
    expect(half.body.predictions).toEqual([drawn, drawn, nothing, nothing]);
    expect(await customer.balance()).toEqual({ main: '0.76', held: '0' });
    expect((await predict('a [[fault:moderation]]', 'b [[fault:moderation]]')).status).toBe(400);
    expect(await customer.balance()).toEqual({ main: '0.76', held: '0' });
  });

  it('makes a video, polls its operation to the end, and downloads it', async () => {
    const customer = await relay.customer('1');
    const sdk = sdkOf(customer);
    upstream.shut(POLLS);
    let operation = await sdk.models.generateVideos({
      model: VIDEOS,
      prompt: 'waves',
      config: { durationSeconds: 4, aspectRatio: '16:9', resolution: '1080p', numberOfVideos: 1 },
    });
    const id = operation.name?.split('/').at(-1) ?? '';
    expect(operation.name).toBe(`models/${VIDEOS}/operations/${id}`);
    expect(operation.done ?? false).toBe(false);
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0.2' });
    upstream.open();
    operation = await until('the end of the operation', async () => {
      const seen = await sdk.operations.getVideosOperation({ operation });
      return seen.done && seen;
    });
    for (const other of [IMAGES, 'vidmodel-9', 'vendora-imagine-video']) {
      const path = `/v1beta/models/${other}/operations/${id}`;
      await refused(customer, path, {}, [404, 'video_not_found']);
    }
    const uri = operation.response?.generatedVideos?.[0]?.video?.uri;
    expect(uri).toBe(`${relay.baseUrl}/v1beta/files/${id}:download?alt=media`);

    const folder = await mkdtemp(join(tmpdir(), 'tollgate-google-'));
    try {
      const downloadPath = join(folder, 'video.mp4');
      // The client rejects plain http addresses, so this passes the file's name instead.
      await sdk.files.download({ file: `files/${id}`, downloadPath });
      const bytes = await until('the download', async () => {
        const read = await readFile(downloadPath).catch(() => null);
        return read && read.length > 0 && read;
      });
      expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    expect((await fetch(`${uri}&key=${customer.apiKey}`)).status).toBe(200);
    expect((await fetch(uri ?? '')).status).toBe(401);
    // The same task in the OpenAI style.
    expect(await customer.sdk().videos.retrieve(id)).toMatchObject({ status: 'completed', seconds: '4' });
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
  });

  it('reports a failed video in its operation, and refunds it', async () => {
    const customer = await relay.customer('1');
    const sdk = sdkOf(customer);
    const started = await sdk.models.generateVideos({ model: VEO, prompt: 'late [[fault:fail-late]]' });
    const failed = await until('the end of the operation', async () => {
      const operation = new GenerateVideosOperation();
      operation.name = started.name ?? '';
      const seen = await sdk.operations.getVideosOperation({ operation });
      return seen.done && seen;
    });
    expect(failed.error).toMatchObject({ code: 13, status: 'INTERNAL' });
    expect(failed.response?.generatedVideos).toBeUndefined();
    await until('the release', async () => (await customer.balance()).main === '1');
  });

  it("lists the group's models that support this style", async () => {
    const customer = await relay.customer('1');
    const names: (string | undefined)[] = [];
    for await (const model of await sdkOf(customer).models.list()) names.push(model.name);
    expect(names).toEqual([
      'models/chatmodel-2',
      `models/${DEAD}`,
      `models/${IMAGES}`,
      `models/${VEO}`,
      `models/${VIDEOS}`,
    ]);
    const chat = await sdkOf(customer).models.get({ model: 'chatmodel-2' });
    expect(chat.supportedActions).toEqual(['generateContent', 'streamGenerateContent', 'countTokens']);
    const model = await sdkOf(customer).models.get({ model: IMAGES });
    expect(model).toMatchObject({ name: `models/${IMAGES}`, supportedActions: ['predict'] });
    for (const id of ['imgmodel-lite', 'vendora-imagine-image', 'vendora-chat']) {
      await refused(customer, `/v1beta/models/${id}`, {}, [404, 'model_not_found']);
    }
  });

  it("refuses in Google's error format, and the SDK throws its own error", async () => {
    const customer = await relay.customer('1');
    const error: unknown = await sdkOf(customer)
      .models.generateImages({ model: 'imgmodel-9', prompt: 'x' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404, message: expect.stringContaining('model_not_found') });
    const keyless = await fetch(`${relay.baseUrl}/v1beta/models`, { headers: { 'x-goog-api-key': 'wrong' } });
    expect(keyless.status).toBe(401);
    expect(await keyless.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
    // Other paths ignore this header.
    const elsewhere = await fetch(`${relay.baseUrl}/v1/models`, {
      headers: { 'x-goog-api-key': customer.apiKey },
    });
    expect(elsewhere.status).toBe(401);
  });

  const IMAGE_CALL = `/v1beta/models/${IMAGES}:predict`;
  const VIDEO_CALL = `/v1beta/models/${VIDEOS}:predictLongRunning`;
  it.each<[string, string, unknown, [number, string]]>([
    ['no instances', IMAGE_CALL, { instances: [] }, [400, 'missing_required_parameter']],
    ['no prompt', IMAGE_CALL, { instances: [{}] }, [400, 'missing_required_parameter']],
    [
      'a prompt of two missing',
      IMAGE_CALL,
      { instances: [{ prompt: 'x' }, {}] },
      [400, 'missing_required_parameter'],
    ],
    ['two videos', VIDEO_CALL, { instances: [{ prompt: 'x' }, { prompt: 'y' }] }, [400, 'invalid_value']],
    [
      'more images than the model makes',
      IMAGE_CALL,
      { instances: [{ prompt: 'x' }, { prompt: 'y' }], parameters: { sampleCount: 6 } },
      [400, 'invalid_value'],
    ],
    ['an instance in words', IMAGE_CALL, { instances: ['x'] }, [400, 'invalid_type']],
    [
      'too many samples',
      IMAGE_CALL,
      { instances: [{ prompt: 'x' }], parameters: { sampleCount: 11 } },
      [400, 'invalid_value'],
    ],
    ['another model in the body', IMAGE_CALL, { model: 'imgmodel-5', prompt: 'x' }, [400, 'invalid_value']],
    [
      'a refused prompt',
      IMAGE_CALL,
      { instances: [{ prompt: '[[fault:moderation]]' }] },
      [400, 'content_policy_violation'],
    ],
    [
      'a model that is not native',
      '/v1beta/models/vendora-imagine-image:predict',
      { prompt: 'x' },
      [404, 'model_not_found'],
    ],
    [
      'an image model for a video',
      `/v1beta/models/${IMAGES}:predictLongRunning`,
      { instances: [{ prompt: 'x' }] },
      [404, 'model_not_found'],
    ],
    ['another call', `/v1beta/models/${IMAGES}:embedContent`, {}, [404, 'unknown_url']],
    [
      'two videos',
      VIDEO_CALL,
      { instances: [{ prompt: 'x' }], parameters: { sampleCount: 2 } },
      [400, 'invalid_value'],
    ],
    [
      'two video prompts',
      VIDEO_CALL,
      { instances: [{ prompt: 'x' }, { prompt: 'y' }] },
      [400, 'invalid_value'],
    ],
    [
      'too long a video',
      VIDEO_CALL,
      { instances: [{ prompt: 'x' }], parameters: { durationSeconds: 60 } },
      [400, 'invalid_value'],
    ],
    [
      'a shape that the model does not make',
      VIDEO_CALL,
      { instances: [{ prompt: 'x' }], parameters: { aspectRatio: '1:1' } },
      [400, 'invalid_value'],
    ],
    [
      'an image',
      VIDEO_CALL,
      { instances: [{ prompt: 'x', image: { bytesBase64Encoded: 'x' } }] },
      [422, 'image_input_not_supported'],
    ],
    [
      'a last frame',
      VIDEO_CALL,
      { instances: [{ prompt: 'x', lastFrame: {} }] },
      [422, 'image_input_not_supported'],
    ],
    [
      'reference images',
      VIDEO_CALL,
      { instances: [{ prompt: 'x', referenceImages: [{}] }] },
      [422, 'image_input_not_supported'],
    ],
    [
      'an image of an empty size',
      IMAGE_CALL,
      { instances: [{ prompt: 'x' }], parameters: { sampleImageSize: '' } },
      [400, 'invalid_value'],
    ],
    [
      'a video to continue',
      VIDEO_CALL,
      { instances: [{ prompt: 'x', video: {} }] },
      [422, 'image_input_not_supported'],
    ],
    [
      'a webhook',
      VIDEO_CALL,
      { instances: [{ prompt: 'x' }], webhookConfig: {} },
      [400, 'webhook_not_supported'],
    ],
  ])('rejects %s, for free', async (_what, path, body, expected) => {
    const customer = await relay.customer('1');
    const { error } = await refused(customer, path, json(body), expected);
    expect(error.message).not.toMatch(/\bn must|aspect_ratio/);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  async function refused(
    customer: Customer,
    path: string,
    init: RequestInit,
    [status, code]: [number, string],
  ): Promise<GoogleRefusal> {
    const response = await customer.send(path, init);
    const body = (await response.json()) as GoogleRefusal;
    expect({ status: response.status, code: body.code }).toEqual({ status, code });
    expect(body.error).toMatchObject({ code: status, details: [{ reason: code }] });
    expect(body.error.message.startsWith(`${code}: `)).toBe(true);
    return body;
  }
});
