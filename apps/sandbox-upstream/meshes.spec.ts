import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadImage } from '@napi-rs/canvas';
import { type Json, SandboxUnderTest } from './sandbox.fixture.js';

const PATH = '/v1/3d/generations';
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start();
});
afterAll(() => sandbox.close());

async function create(fields: Json, headers = {}): Promise<{ status: number; body: Json }> {
  const answer = await sandbox.post(PATH, { model: 'm', ...fields }, headers);
  return { status: answer.status, body: (await answer.json()) as Json };
}

const ended = (id: string) =>
  sandbox.readUntil(`${PATH}/${id}`, ({ status }) => ['completed', 'failed', 'SUCCESS'].includes(status));
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

/** Reads a binary glTF file. @throws Error if its lengths do not fit */
function readGlb(file: Buffer): { json: Json; binary: Buffer } {
  expect(file.toString('latin1', 0, 4)).toBe('glTF');
  expect([file.readUInt32LE(4), file.readUInt32LE(8)]).toEqual([2, file.length]);
  const length = file.readUInt32LE(12);
  expect(file.toString('latin1', 16, 20)).toBe('JSON');
  expect(length % 4).toBe(0);
  const at = 20 + length;
  expect(file.toString('latin1', at + 4, at + 8)).toBe('BIN\0');
  const binary = file.subarray(at + 8);
  expect(file.readUInt32LE(at)).toBe(binary.length);
  return { json: JSON.parse(file.toString('utf8', 20, at)) as Json, binary };
}

describe('a 3D asset', () => {
  it('is drafted, then textured, and both are cubes', async () => {
    const draft = await create({ prompt: 'a crate', mode: 'draft' });
    expect(draft.body).toEqual({ id: expect.any(String), status: 'queued' });
    const { output } = await ended(draft.body['id']);
    const { json, binary } = readGlb(await bytesOf(await fetch(output['model_url'])));
    expect(json['asset']['version']).toBe('2.0');
    expect(json['buffers'][0]['byteLength']).toBe(binary.length);
    expect(json['accessors'].map(({ count }: Json) => count)).toEqual([24, 24, 24, 36]);
    expect(json).not.toHaveProperty('materials');

    const texture = await create({ mode: 'texture', draft_id: draft.body['id'], prompt: 'rusty' });
    await ended(texture.body['id']);
    const textured = readGlb(await bytesOf(await sandbox.get(`${PATH}/${texture.body['id']}/content`)));
    const view = textured.json['bufferViews'][textured.json['images'][0]['bufferView']];
    const image = textured.binary.subarray(view['byteOffset'], view['byteOffset'] + view['byteLength']);
    expect((await loadImage(image)).width).toBe(16);
  });

  it('has sides that face outwards', async () => {
    const { body } = await create({ prompt: 'a crate [[work:0]]' });
    const { binary, json } = readGlb(await bytesOf(await sandbox.get(`${PATH}/${body['id']}/content`)));
    const floats = new Float32Array(binary.buffer.slice(binary.byteOffset, binary.byteOffset + 576));
    const indices = new Uint16Array(
      binary.buffer.slice(binary.byteOffset + json['bufferViews'][3]['byteOffset']).slice(0, 72),
    );
    const point = (index: number) => [0, 1, 2].map((axis) => floats[(indices[index] ?? 0) * 3 + axis] ?? 0);
    for (let at = 0; at < 36; at += 3) {
      const [a, b, c] = [point(at), point(at + 1), point(at + 2)] as [number[], number[], number[]];
      const edge = (to: number[]) =>
        to.map((value, axis) => value - (a[axis] ?? 0)) as [number, number, number];
      const [u, v] = [edge(b), edge(c)];
      const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      const outwards = normal.reduce((sum, value, axis) => sum + value * (a[axis] ?? 0), 0);
      expect(outwards).toBeGreaterThan(0);
    }
  });

  it.each<[string, Json]>([
    ['nothing to make', {}],
    ['an address', { images: ['https://example.com/a.png'] }],
    ['an unknown mode', { prompt: 'p', mode: 'sculpt' }],
    ['a texture of nothing', { mode: 'texture' }],
    ['a texture of no draft', { mode: 'texture', draft_id: 'none' }],
    ['reject-400', { prompt: '[[fault:reject-400]]' }],
  ])('is refused: %s', async (_name, fields) => {
    expect((await create(fields)).status).toBe(400);
  });

  it('is not textured while the draft is in progress, or if it is textured already', async () => {
    const draft = await create({ images: ['data:image/png;base64,AAAA'], prompt: '[[work:9]]' });
    const early = await create({ mode: 'texture', draft_id: draft.body['id'] });
    expect(early.body['error']['code']).toBe('draft_not_finished');
    const done = await create({ prompt: '[[work:0]]' });
    const texture = await create({ mode: 'texture', draft_id: done.body['id'], prompt: '[[work:0]]' });
    const again = await create({ mode: 'texture', draft_id: texture.body['id'] });
    expect(again.body['error']['code']).toBe('not_a_draft');
  });

  it('fails late, is polled through unknown words, and is the same under the same key', async () => {
    const failing = await create({ prompt: '[[fault:fail-late]]' });
    expect(await ended(failing.body['id'])).toMatchObject({
      status: 'failed',
      error: { code: 'generation_failed' },
    });
    const strange = await create({ prompt: '[[fault:unknown-status]] [[fault:done-word]] [[work:0]]' });
    const path = `${PATH}/${strange.body['id']}`;
    expect((await sandbox.read(path))['status']).toBe('post_processing');
    expect((await ended(strange.body['id']))['status']).toBe('SUCCESS');
    const headers = { 'idempotency-key': 'mesh-1' };
    const [one, again] = [await create({ prompt: 'p' }, headers), await create({ prompt: 'p' }, headers)];
    expect(again.body['id']).toBe(one.body['id']);
  });

  it('survives the process in its folder', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'sandbox-meshes-'));
    try {
      const first = await SandboxUnderTest.start({ stateDir });
      const answer = await first.post(PATH, { model: 'm', prompt: 'p [[work:0]]' });
      const { id } = (await answer.json()) as Json;
      await first.close();
      expect(readdirSync(stateDir)).toEqual([`${id}.mesh`]);
      const second = await SandboxUnderTest.start({ stateDir });
      readGlb(await bytesOf(await second.get(`${PATH}/${id}/content`)));
      await second.close();
    } finally {
      rmSync(stateDir, { recursive: true });
    }
  });
});
