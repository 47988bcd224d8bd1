import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FolderStore } from '#storage/folder.store.js';
import { endedMesh, endedVideo, keyOf, play } from '../console/support/work.js';
import { type Person, person } from '../support/console.js';
import { closeClean, json, type Relay, startRelay, until } from '../support/relay.js';
import { unzipped } from '../support/zip.js';

/** More than all buffers between the store and a client that does not read. */
const LARGE_BYTES = 64 * 1024 * 1024;

/** Requests per key and minute. */
const KEY_REQUESTS = 5;
const PICTURE = { prompt: 'a gate', model: 'imgmodel-4' };

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ CONSOLE_FILES_AT_ONCE: '1', KEY_REQUESTS_PER_MINUTE: String(KEY_REQUESTS) });
});
afterAll(() => closeClean(relay));

async function archiveOf(someone: Person, query = ''): Promise<Map<string, Buffer>> {
  const answer = await someone.send(`/api/library${query}`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
  return unzipped(Buffer.from(await answer.arrayBuffer()));
}

/** What the console shows as a task's content. */
async function contentOf(someone: Person, taskId: string): Promise<Buffer> {
  return Buffer.from(await (await someone.send(`/api/tasks/${taskId}/content`)).arrayBuffer());
}

describe('the files of a library', () => {
  it('are in one zip, by type, and nobody else gets them', async () => {
    const [someone, other] = [await person(relay, { credits: '5' }), await person(relay)];
    const keyId = await keyOf(someone);
    const video = await endedVideo(relay, someone, { keyId, prompt: 'a boat' });
    const mesh = await endedMesh(relay, someone, { keyId, prompt: 'a wooden boat' });
    await play(relay, someone, { keyId, path: 'images/generations', body: { ...PICTURE, n: 2 } });
    const files = await until('the charge for the images', async () => {
      const found = await archiveOf(someone);
      return found.size === 4 ? found : undefined;
    });
    const images = [...files.keys()].filter((name) => name.endsWith('.png'));
    expect([...files.keys()].toSorted()).toEqual([`${video.id}.mp4`, `${mesh.id}.glb`, ...images].toSorted());
    expect(files.get(`${video.id}.mp4`)).toEqual(await contentOf(someone, video.id));
    expect(files.get(`${mesh.id}.glb`)).toEqual(await contentOf(someone, mesh.id));
    expect([...(await archiveOf(someone, '?kind=video')).keys()]).toEqual([`${video.id}.mp4`]);
    expect([...(await archiveOf(someone, '?kind=3d')).keys()]).toEqual([`${mesh.id}.glb`]);
    expect([...(await archiveOf(someone, '?kind=image')).keys()]).toEqual(images);
    expect([...(await archiveOf(other)).keys()]).toEqual(['left-out.txt']);
    expect((await fetch(`${relay.consoleUrl}/api/library`)).status).toBe(401);
  });

  it('are left out once they have expired or are missing, and not named once deleted', async () => {
    const someone = await person(relay, { credits: '5' });
    const keyId = await keyOf(someone);
    const [first, second, third] = [
      await endedVideo(relay, someone, { keyId, prompt: 'one' }),
      await endedVideo(relay, someone, { keyId, prompt: 'two' }),
      await endedVideo(relay, someone, { keyId, prompt: 'three' }),
    ];
    const change = (what: string, id: string) =>
      relay.fixture.owner.query(`UPDATE tasks SET ${what} WHERE id = $1`, [id]);
    await change(`expires_at = now() - interval '1 minute'`, first.id);
    await change('deleted_at = now()', second.id);
    await storeOf(relay).remove(await keyOfFile(third.id));
    const files = await archiveOf(someone, '?language=en');
    expect([...files].map(([name, bytes]) => [name, bytes.toString()])).toEqual([
      ['left-out.txt', 'Files in this archive: 0\nLeft out because they have expired: 2\n'],
    ]);
  });

  it('are found behind more requests than fit, whose images were not stored', async () => {
    const { keyId, ...customer } = await relay.customer('5');
    await relay.fixture.owner.query('UPDATE api_keys SET requests_per_minute = 1000 WHERE id = $1', [keyId]);
    const someone = await person(relay, { accountId: customer.accountId });
    const draw = (more: object) => customer.send('/v1/images/generations', json({ ...PICTURE, ...more }));
    const id = (await draw({})).headers.get('x-request-id');
    await Promise.all(Array.from({ length: 101 }, () => draw({ response_format: 'b64_json' })));
    await until('all charges', async () => {
      const { rows } = await relay.fixture.billing.query<{ count: bigint }>(
        `SELECT count(*) FROM charges WHERE account_id = $1 AND state = 'settled'`,
        [customer.accountId],
      );
      return rows[0]!.count === 102n;
    });
    expect([...(await archiveOf(someone)).keys()]).toEqual([`${id}-0.png`]);
  });

  it('do not count as requests of the key', async () => {
    const customer = await relay.customer('5');
    const someone = await person(relay, { accountId: customer.accountId });
    const draw = () => customer.send('/v1/images/generations', json(PICTURE));
    expect((await draw()).status).toBe(200);
    await until('the image', async () => !(await archiveOf(someone)).has('left-out.txt'));
    for (let read = 0; read < KEY_REQUESTS; read += 1) await archiveOf(someone);
    expect((await draw()).status).toBe(200);
  });

  it('are no longer read once the client leaves', async () => {
    const someone = await person(relay, { credits: '5' });
    const { id } = await endedVideo(relay, someone, { keyId: await keyOf(someone), prompt: 'long' });
    const key = await keyOfFile(id);
    await storeOf(relay).write(key, Buffer.alloc(LARGE_BYTES), { maxBytes: LARGE_BYTES });
    const leaving = new AbortController();
    const { headers } = someone;
    const first = await fetch(`${relay.consoleUrl}/api/library`, { headers, signal: leaving.signal });
    expect(first.status).toBe(200);
    leaving.abort();
    // It waits until the only place is free.
    expect((await archiveOf(someone)).get(`${id}.mp4`)?.length).toBe(LARGE_BYTES);
  });
});

describe('a gateway that does not answer', () => {
  let alone: Relay;

  beforeAll(async () => {
    alone = await startRelay({ GATEWAY_URL: 'http://127.0.0.1:9' });
  });
  afterAll(() => closeClean(alone));

  it('is an error that is shown, not saved', async () => {
    const customer = await alone.customer('1');
    await customer.send('/v1/images/generations', json(PICTURE));
    const someone = await person(alone, { accountId: customer.accountId });
    const refused = await until('the charge for the image', async () => {
      const answer = await someone.send('/api/library');
      return answer.ok ? void (await answer.arrayBuffer()) : answer;
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-disposition')).toBeNull();
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
  });
});

function storeOf({ mailDir }: Relay): FolderStore {
  return new FolderStore(dirname(mailDir));
}

async function keyOfFile(taskId: string): Promise<string> {
  const { rows } = await relay.fixture.billing.query<{ key: string }>(
    'SELECT file_key AS key FROM tasks WHERE id = $1',
    [taskId],
  );
  return rows[0]!.key;
}
