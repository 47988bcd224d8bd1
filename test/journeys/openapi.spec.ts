import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { DocumentedOperation, GatewayDocument } from '#apps/gateway/openapi/openapi.document.js';
import { instantPng } from '#apps/sandbox-upstream/images.js';
import { newWebhookSecret, signedHeaders } from '#platform/http/webhook-signature.js';
import { Contract } from '../support/openapi.js';
import { addModel } from '../support/models.js';
import { silentWav, soundForm } from '../support/sounds.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const PROMPT = { prompt: 'a lighthouse [[work:0.2]]' };
const IMAGE = { model: 'vendora-imagine-image', n: 2, size: '1024x1024', ...PROMPT };
const EDIT = { model: 'vendora-imagine-edit', image: instantPng.toString('base64'), mask: null, ...PROMPT };
const VIDEO = { model: 'vendora-imagine-video', seconds: '2', resolution: '720p', ...PROMPT };
const MESSAGES = [{ role: 'user', content: 'hello' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'hello' }] }];

/** A body for each operation, by ID. */
const BODIES: Record<string, object> = {
  generateImages: IMAGE,
  generateImagesAtVendora: { ...IMAGE, response_format: 'b64_json' },
  editImages: EDIT,
  editImagesAtVendora: { ...EDIT, response_format: 'url' },
  createVideo: VIDEO,
  generateVideo: { ...VIDEO, seconds: null, duration: 2 },
  generateVideoAtVendora: VIDEO,
  remixVideo: PROMPT,
  createAsset: { model: 'vendora-3d', seed: 1, ...PROMPT },
  predict: { instances: [PROMPT], parameters: { sampleCount: 1 } },
  predictLongRunning: { instances: [PROMPT], parameters: { durationSeconds: 2 } },
  createChatCompletion: { model: 'vendora-chat', messages: MESSAGES, max_tokens: 50 },
  createResponse: { model: 'vendora-chat', input: 'hello' },
  createMessage: { model: 'vendora-messages', messages: MESSAGES, max_tokens: 50 },
  createEmbedding: { model: 'vendora-embed', input: 'hello' },
  countMessageTokens: { model: 'vendora-messages', messages: MESSAGES },
  createSpeech: { model: 'vendora-speech', input: 'hello', voice: 'alloy' },
  generateContent: { contents: CONTENTS, generationConfig: { maxOutputTokens: 50 } },
  streamGenerateContent: { contents: CONTENTS },
  countTokens: { contents: CONTENTS },
};
const TARGETS: Record<string, string> = {
  predict: 'imgmodel-4',
  predictLongRunning: 'vidmodel-3',
  generateContent: 'chatmodel-2',
  streamGenerateContent: 'chatmodel-2',
  countTokens: 'chatmodel-2',
};
/** Operations that accept only forms. */
const FORMS = ['createTranscription', 'createTranslation'];
/** Values for the path of an operation. */
const QUERIES: Record<string, string> = { streamGenerateContent: '?alt=sse' };

function spoken(prompt = 'hello'): FormData {
  return soundForm(silentWav(1), { model: 'vendora-transcribe', prompt });
}

/** The secret with which a channel's vendor signs webhooks. */
const SECRET = newWebhookSecret();

/** What the steps read from the answers. The contract has checked the rest. */
interface Answered {
  id: string;
  name: string;
  status: string;
  completed_at: number | null;
  data: { url?: string }[];
  video: { url: string };
  output: { model_url: string };
  predictions: object[];
  deleted: boolean;
  done: boolean;
  error?: object;
}

describe('the OpenAPI document', () => {
  let relay: Relay;
  let customer: Customer;
  let contract: Contract;

  beforeAll(async () => {
    relay = await startRelay();
    const sandbox = { channel: 'sandbox', protocol: 'openai-xai', baseUrl: relay.sandboxUrl };
    await addModel(relay.fixture.owner, { id: 'vendora-embed', like: 'vendora-chat', ...sandbox });
    const hearing = { id: 'vendora-transcribe', like: 'vendora-speech', unit: 'second', ...sandbox };
    await addModel(relay.fixture.owner, hearing);
    await relay.fixture.owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, webhook_secret)
       VALUES ('announcing', 'replicate', $1, 'sandbox-key', $2)`,
      [relay.sandboxUrl, SECRET],
    );
    customer = await relay.customer('10');
    const response = await fetch(`${relay.baseUrl}/openapi.json`);
    expect(response.status).toBe(200);
    contract = new Contract((await response.json()) as GatewayDocument);
  });
  afterAll(() => closeClean(relay));

  it('is valid OpenAPI 3.1, and names each operation once', async () => {
    const { openapi, servers } = contract.document;
    expect({ openapi, servers }).toEqual({ openapi: '3.1.0', servers: [{ url: relay.baseUrl }] });
    const copy = structuredClone(contract.document) as unknown as Record<string, unknown>;
    expect(await new Validator().validate(copy)).toMatchObject({ valid: true });
    const ids = contract.operations().map(({ operation }) => operation.operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('names the parameters of every path', () => {
    for (const { path, operation } of contract.operations()) {
      const named = operation.parameters.filter((each) => each.in === 'path').map(({ name }) => `{${name}}`);
      expect(named).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
  });

  it('has every route of the gateway, and no other', async () => {
    const routes = await declaredRoutes();
    expect(routes.length).toBeGreaterThan(25);
    const documented = contract
      .operations()
      .map(({ method, path }) => `${method} ${path.replace(/\{\w+\}(:\w+)?/g, '*')}`);
    expect([...new Set(documented)].sort()).toEqual([...new Set(routes)].sort());
  });

  it('has an example of each body, which the body allows', () => {
    // What vendors send is not for readers of the document.
    const isOfClients = ({ operation }: { operation: DocumentedOperation }) =>
      operation.requestBody !== undefined && operation.security.length > 0;
    const asked = contract.operations().filter(isOfClients);
    expect(asked.length).toBeGreaterThan(20);
    for (const { operation } of asked) contract.checkExample(operation);
  });

  it('is also a page for people, which loads and runs nothing', async () => {
    const response = await call('get', '/docs', { key: false });
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    );
    const page = response.text;
    for (const { path } of contract.operations()) expect(page).toContain(`<code>${path}</code>`);
    expect(page).not.toMatch(/<script|<link|<img|style="|undefined|\[object/);
    await call('get', '/openapi.json', { key: false });
  });

  it('describes the answers to clients without a key, without credits, and without a body', async () => {
    const poor = await relay.customer('0');
    for (const { path, method, operation } of contract.operations()) {
      const id = operation.operationId;
      const address = path.replace('{model}', TARGETS[id] ?? 'x').replace(/\{\w+\}/g, 'x');
      const url = address + (QUERIES[id] ?? '');
      if (operation.security.some((each) => 'key' in each)) {
        expect((await call(method, url, { key: false })).status).toBe(401);
      }
      if (method !== 'post') continue;
      expect((await call(method, url, { body: {} })).status).toBe(400);
      expect((await call(method, url, { body: '{' })).status).toBe(400);
      const xml = { 'content-type': 'text/xml' };
      expect((await call(method, url, { body: '<a/>', headers: xml })).status).toBe(415);
      // Counts are free, someone else's video cannot be remixed, and a webhook has to be signed.
      const free = { countMessageTokens: 200, countTokens: 200 };
      const ends: Record<string, number> = { ...free, remixVideo: 404, receiveVendorWebhook: 400 };
      const sent = FORMS.includes(id) ? { form: spoken() } : { body: BODIES[id] };
      expect((await call(method, url, { ...sent, by: poor })).status).toBe(ends[id] ?? 403);
    }
  });

  it.each(['', '/vendora'])('describes images on each path: %s', async (base) => {
    for (const [path, id] of [
      ['generations', 'generateImages'],
      ['edits', 'editImages'],
    ]) {
      const body = BODIES[base === '' ? `${id}` : `${id}AtVendora`];
      const made = (await call('post', `${base}/v1/images/${path}`, { body })).parsed;
      expect(made.data).toHaveLength(body === EDIT || path === 'edits' ? 1 : 2);
      for (const { url } of made.data) if (url !== undefined) await file(url);
    }
    expect((await call('get', '/v1/images/files/x.png', { key: false })).status).toBe(404);
    const form = new FormData();
    form.set('model', EDIT.model);
    form.set('prompt', 'x');
    form.set('image', new Blob([new Uint8Array(instantPng)]), 'a.png');
    expect((await call('post', `${base}/v1/images/edits`, { form })).status).toBe(200);
  });

  it.each([
    ['/v1/videos', '/v1/videos'],
    ['/v1/videos/generations', '/v1/videos'],
    ['/vendora/v1/videos/generations', '/vendora/v1/videos'],
  ])('describes videos of %s', async (creation, shelf) => {
    const long = { ...VIDEO, prompt: 'a lighthouse [[work:3600]]' };
    const running = `${shelf}/${(await call('post', creation, { body: long })).parsed.id}`;
    expect((await call('delete', running)).status).toBe(400);
    expect((await call('get', `${running}/content`)).status).toBe(400);
    const created = (await call('post', creation, { body: VIDEO })).parsed;
    const path = `${shelf}/${created.id}`;
    const ended = await until('the end of the video', async () => {
      const { parsed } = await call('get', path);
      return parsed.completed_at !== null && parsed;
    });
    await file(ended.video.url);
    await file(`${relay.baseUrl}${path}/content`);
    expect((await call('post', `/v1/videos/${created.id}/remix`, { body: PROMPT })).status).toBe(200);
    expect((await call('get', `${shelf}?limit=1`)).parsed.data).toHaveLength(1);
    expect((await call('get', `${shelf}?limit=0`)).status).toBe(400);
    expect((await call('delete', path)).parsed.deleted).toBe(true);
    for (const gone of [`${path}/content`, `${shelf}/x`, `${shelf}/x/content`]) {
      expect((await call('get', gone)).status).toBe(404);
    }
    expect((await call('delete', `${shelf}/x`)).status).toBe(404);
    const failing = { ...VIDEO, prompt: '[[fault:fail-late]]' };
    const failed = (await call('post', creation, { body: failing })).parsed;
    await until('the failure', async () => {
      const { parsed } = await call('get', `${shelf}/${failed.id}`);
      return parsed.status === 'failed';
    });
  });

  it('describes 3D assets', async () => {
    const created = (await call('post', '/v1/3d', { body: BODIES['createAsset'] })).parsed;
    const ended = await until('the end of the asset', async () => {
      const { parsed } = await call('get', `/v1/3d/${created.id}`);
      return parsed.completed_at !== null && parsed;
    });
    await file(ended.output.model_url);
    expect((await call('get', `/v1/3d/${created.id}/content?format=fbx`)).status).toBe(400);
    const texture = { model: 'vendora-3d', mode: 'texture', draft_id: created.id };
    expect((await call('post', '/v1/3d', { body: texture })).status).toBe(200);
    for (const path of ['/v1/3d/x', '/v1/3d/x/content']) expect((await call('get', path)).status).toBe(404);
  });

  it('describes the Google style', async () => {
    await call('get', '/v1beta/models');
    expect((await call('get', '/v1beta/models/imgmodel-4')).status).toBe(200);
    expect((await call('get', '/v1beta/models/vendora-chat')).status).toBe(404);
    const predicted = await call('post', '/v1beta/models/imgmodel-4:predict', { body: BODIES['predict'] });
    expect(predicted.parsed.predictions).toHaveLength(1);
    const body = BODIES['predictLongRunning'];
    const { name } = (await call('post', '/v1beta/models/vidmodel-3:predictLongRunning', { body })).parsed;
    await until('the end of the operation', async () => (await call('get', `/v1beta/${name}`)).parsed.done);
    await file(`${relay.baseUrl}/v1beta/files/${name.split('/').at(-1)}:download?alt=media`);
    expect((await call('get', '/v1beta/files/x:download')).status).toBe(404);
    expect((await call('get', '/v1beta/models/vidmodel-3/operations/x')).status).toBe(404);
    const failing = { instances: [{ prompt: '[[fault:fail-late]]' }] };
    const failed = (await call('post', '/v1beta/models/vidmodel-3:predictLongRunning', { body: failing }))
      .parsed;
    await until('the failure', async () => (await call('get', `/v1beta/${failed.name}`)).parsed.error);
  });

  it.each([
    ['/v1/chat/completions', 'createChatCompletion', { stream: true }],
    ['/v1/responses', 'createResponse', { stream: true }],
    ['/v1/messages', 'createMessage', { stream: true }],
    ['/v1/audio/speech', 'createSpeech', { response_format: 'wav' }],
    ['/v1/embeddings', 'createEmbedding', { encoding_format: 'base64' }],
  ])('describes chats at %s, streamed and not', async (path, id, otherwise) => {
    const body = BODIES[id] as { model: string };
    expect((await call('post', path, { body })).status).toBe(200);
    expect((await call('post', path, { body: { ...body, ...otherwise } })).status).toBe(200);
    expect((await call('post', path, { body: { ...body, model: 'nothing' } })).status).toBe(404);
  });

  it('describes contents, streamed and not', async () => {
    const path = '/v1beta/models/chatmodel-2';
    const body = { contents: CONTENTS };
    expect((await call('post', `${path}:generateContent`, { body })).status).toBe(200);
    expect((await call('post', `${path}:generateContent`, { body: { ...body, dry_run: true } })).status).toBe(
      200,
    );
    expect((await call('post', `${path}:streamGenerateContent?alt=sse`, { body })).status).toBe(200);
    expect((await call('post', `${path}:streamGenerateContent`, { body })).status).toBe(400);
    expect((await call('post', `${path}:countTokens`, { body })).status).toBe(200);
    const whole = { generateContentRequest: body };
    expect((await call('post', `${path}:countTokens`, { body: whole })).status).toBe(200);
    expect((await call('post', '/v1beta/models/nothing:generateContent', { body })).status).toBe(404);
  });

  it('describes transcriptions in each format', async () => {
    for (const path of ['/v1/audio/transcriptions', '/v1/audio/translations']) {
      for (const format of ['json', 'text', 'srt', 'verbose_json', 'vtt']) {
        const form = spoken('hello');
        form.set('response_format', format);
        expect((await call('post', path, { form })).status).toBe(200);
      }
      const form = spoken('hello');
      form.set('dry_run', 'true');
      expect((await call('post', path, { form })).status).toBe(200);
    }
  });

  it('describes balances and limits', async () => {
    const made = await call('post', '/v1/images/generations', { body: IMAGE });
    const id = made.headers.get('x-request-id') ?? '';
    for (const path of [
      '/v1/key',
      '/v1/credits',
      '/v1/usage?scope=account',
      `/v1/charges/${id}`,
      '/v1/dashboard/billing/subscription',
      '/v1/dashboard/billing/usage',
    ])
      expect((await call('get', path)).status).toBe(200);
    expect((await call('get', '/v1/usage?from=yesterday')).status).toBe(400);
    expect((await call('get', '/v1/dashboard/billing/usage?end_date=soon')).status).toBe(400);
    expect((await call('get', '/v1/charges/nothing')).status).toBe(404);
    expect((await call('get', `/v1/charges/${id}/images`)).status).toBe(200);
    expect((await call('get', '/v1/charges/nothing/images')).status).toBe(404);
  });

  it.each<Record<string, string>>([{}, { 'anthropic-version': '2023-06-01' }])(
    'describes models, with %p',
    async (headers) => {
      expect((await call('get', '/v1/models', { headers })).status).toBe(200);
      expect((await call('get', '/v1/models/vendora-chat', { headers })).status).toBe(200);
      expect((await call('get', '/v1/models/nothing', { headers })).status).toBe(404);
    },
  );

  it('describes vendor webhooks', async () => {
    const body = { id: 'nothing', status: 'succeeded' };
    const message = { id: 'msg_1', timestamp: Math.floor(Date.now() / 1000), body: JSON.stringify(body) };
    const headers = signedHeaders(message, [SECRET]);
    const answer = await call('post', '/vendor-webhooks/announcing', { body, headers, key: false });
    expect(answer.status).toBe(204);
  });

  it('describes the errors when an upstream refuses', async () => {
    const faults = [
      'moderation',
      'fail-late',
      ...[400, 401, 404, 415, 422, 429, 500, 503].map((each) => `reject-${each}`),
    ];
    for (const { path, operation } of contract.operations().filter(({ method }) => method === 'post')) {
      const id = operation.operationId;
      const body = JSON.stringify(BODIES[id] ?? {});
      for (const fault of faults) {
        if (FORMS.includes(id)) {
          await call('post', path, { form: spoken(`[[fault:${fault}]]`) });
          continue;
        }
        const faulty = body.replace(/a lighthouse \[\[work:0.2\]\]|hello/, `[[fault:${fault}]]`);
        await call('post', path.replace('{model}', TARGETS[id] ?? '') + (QUERIES[id] ?? ''), {
          body: JSON.parse(faulty) as object,
        });
      }
    }
    for (const status of [400, 415, 422]) expect(contract.seen).toContain(`generateImages ${status}`);
  });

  it('was checked with a success and an error of every operation', () => {
    const statusesOf = (id: string) =>
      [...contract.seen]
        .map((each) => each.split(' '))
        .flatMap(([of, status]) => (of === id ? [Number(status)] : []));
    const missing = contract.operations().flatMap(({ operation: { operationId: id, security } }) => {
      const statuses = statusesOf(id);
      // Public operations without input have nothing to refuse.
      const refused = security.length === 0 || statuses.some((status) => status >= 400);
      return statuses.some((status) => status < 300) && refused ? [] : [`${id}: ${statuses.join(', ')}`];
    });
    expect(missing).toEqual([]);
  });

  interface Sent {
    body?: object | string | undefined;
    form?: FormData;
    headers?: Record<string, string>;
    by?: Customer;
    key?: boolean;
  }

  /** Sends a request, and checks it and its answer against the document. */
  async function call(
    method: string,
    path: string,
    { body, form, headers = {}, by = customer, key = true }: Sent = {},
  ): Promise<{ status: number; headers: Headers; text: string; parsed: Answered }> {
    const { operation } = contract.find(method, relay.baseUrl + path) ?? {};
    if (!operation) throw new Error(`${method} ${path} is not documented`);
    const init: RequestInit = {
      ...(body === undefined ? { headers } : json(body, headers)),
      method: method.toUpperCase(),
      ...(form === undefined ? {} : { body: form }),
    };
    const response = await (key ? by.send(path, init) : fetch(relay.baseUrl + path, init));
    const text = (await contract.check(operation, response)).toString();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    if (response.ok && typeof body === 'object') contract.checkRequest(operation, body);
    return {
      status: response.status,
      headers: response.headers,
      text,
      parsed: isJson ? JSON.parse(text) : null,
    };
  }

  /** Downloads a file, a part of it, only its headers, and a range that it does not have. */
  async function file(url: string): Promise<void> {
    const path = url.slice(relay.baseUrl.length);
    const whole = await call('get', path);
    expect(whole.status).toBe(200);
    expect((await call('get', path, { headers: { range: 'bytes=0-3' } })).status).toBe(206);
    const etag = whole.headers.get('etag') ?? '';
    expect((await call('get', path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await call('get', path, { headers: { range: 'bytes=999999999-' } })).status).toBe(416);
  }
});

/** `get /v1/videos/*` for each handler of the gateway's controllers, from their decorators. */
async function declaredRoutes(): Promise<string[]> {
  const root = join(import.meta.dirname, '../../apps/gateway');
  const modules = globSync('**/*.controller.ts', { cwd: root }).map(
    async (path) =>
      (await import(`#apps/gateway/${path.replace(/\.ts$/, '.js')}`)) as Record<string, unknown>,
  );
  const exported = (await Promise.all(modules)).flatMap((module) => Object.values(module));
  const controllers = exported.filter(
    (each): each is new () => object =>
      typeof each === 'function' && Reflect.hasMetadata(PATH_METADATA, each),
  );
  return controllers.flatMap((controller) =>
    handlersOf(controller).flatMap((handler) => {
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
      return pathsOf(controller).flatMap((base) =>
        pathsOf(handler).map((path) => `${method.toLowerCase()} ${joined(base, path)}`),
      );
    }),
  );
}

function handlersOf(controller: new () => object): object[] {
  return Object.values(Object.getOwnPropertyDescriptors(controller.prototype))
    .map(({ value }) => value as unknown)
    .filter(
      (value): value is object => typeof value === 'function' && Reflect.hasMetadata(METHOD_METADATA, value),
    );
}

function pathsOf(target: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, target) as string | string[]].flat();
}

function joined(...parts: string[]): string {
  const segments = parts.flatMap((part) => part.split('/')).filter((segment) => segment !== '');
  return `/${segments.join('/').replace(/:\w+(\(.*\))?/g, '*')}`;
}
