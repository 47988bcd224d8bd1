import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import OpenAI, { toFile } from 'openai';
import { type Json, SandboxUnderTest } from './sandbox.fixture.js';

const PATH = '/v1/images/edits';
let sandbox: SandboxUnderTest;
let original: Buffer;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start();
  const canvas = createCanvas(80, 60);
  const context = canvas.getContext('2d');
  context.fillStyle = 'rgb(200, 100, 50)';
  context.fillRect(0, 0, 80, 60);
  original = canvas.toBuffer('image/png');
});
afterAll(() => sandbox.close());

/** The size, and the colours in a corner and in the middle. */
async function look(bytes: Buffer) {
  const image = await loadImage(bytes);
  const canvas = createCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const colour = (x: number, y: number) => Array.from(context.getImageData(x, y, 1, 1).data.slice(0, 3));
  return {
    size: [image.width, image.height],
    corner: colour(0, 0),
    middle: colour(image.width / 2, image.height / 2),
  };
}

const altered = { corner: [200, 100, 50], middle: [55, 155, 205] };
const dataUrl = () => `data:image/png;base64,${original.toString('base64')}`;
const fetched = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

describe('an edit', () => {
  it('sent as a form by the OpenAI client shows the image altered', async () => {
    const client = new OpenAI({ apiKey: 'sandbox-key', baseURL: `${sandbox.url}/v1`, maxRetries: 0 });
    const image = await toFile(original, 'in.png', { type: 'image/png' });
    const result = await client.images.edit({ model: 'm', prompt: 'turn', image, n: 2 });
    expect(result.data).toHaveLength(2);
    expect(await look(await fetched(result.data?.[0]?.url ?? ''))).toEqual({ size: [80, 60], ...altered });
    const inlined = await client.images.edit({
      model: 'm',
      prompt: 'turn',
      image: [image, image],
      mask: image,
      response_format: 'b64_json',
      size: '256x256',
    });
    const bytes = Buffer.from(inlined.data?.[0]?.b64_json ?? '', 'base64');
    expect(await look(bytes)).toEqual({ size: [256, 256], ...altered });
  });

  it.each(['image', 'images'])('sent as JSON with %s is the same', async (field) => {
    const image = { url: dataUrl(), type: 'image_url' };
    const answer = await sandbox.post(PATH, {
      model: 'm',
      prompt: 'turn',
      response_format: 'b64_json',
      [field]: field === 'image' ? image : [image],
    });
    const body = (await answer.json()) as Json;
    expect(await look(Buffer.from(body['data'][0]['b64_json'], 'base64'))).toMatchObject(altered);
  });

  it.each<[string, Json]>([
    ['no image', {}],
    ['an address', { image: { url: 'https://example.com/a.png' } }],
    ['both fields', { image: 'x', images: ['x'] }],
    ['no image', { image: { url: `data:image/png;base64,${Buffer.from('hello').toString('base64')}` } }],
  ])('is refused with %s', async (_name, fields) => {
    const answer = await sandbox.post(PATH, { model: 'm', prompt: 'p', ...fields });
    expect(answer.status).toBe(400);
  });

  it('obeys directives and counts what was made', async () => {
    const ask = (prompt: string) => sandbox.post(PATH, { model: 'm', prompt, image: { url: dataUrl() } });
    expect((await ask('[[fault:reject-422]]')).status).toBe(422);
    expect((await ask('[[fault:moderation]]')).status).toBe(400);
    const before = (await sandbox.read('/_sandbox/stats'))['imagesMade'] as number;
    expect((await ask('[[instant]]')).status).toBe(200);
    expect((await sandbox.read('/_sandbox/stats'))['imagesMade']).toBe(before + 1);
  });

  it('of broken bytes is a vendor error, not a crash', async () => {
    const broken = original.subarray(0, 40).toString('base64');
    const image = { url: `data:image/png;base64,${broken}` };
    const answer = await sandbox.post(PATH, { model: 'm', prompt: 'p', image, response_format: 'b64_json' });
    expect(answer.status).toBe(500);
    expect((await sandbox.get('/_sandbox/stats')).status).toBe(200);
  });
});
