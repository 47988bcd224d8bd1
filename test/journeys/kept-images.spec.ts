import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

let relay: Relay;
let customer: Customer;
let owner: Person;
let stranger: Customer;

beforeAll(async () => {
  relay = await startRelay();
  [customer, stranger] = [await relay.customer('5'), await relay.customer('1')];
  owner = await person(relay, { accountId: customer.accountId });
});
afterAll(() => closeClean(relay));

/** Makes images. Returns the charge. */
async function made(body: object = {}): Promise<string> {
  const call = json({ model: 'imgmodel-4', prompt: 'a gate', n: 2, ...body });
  const answer = await customer.send('/v1/images/generations', call);
  expect(answer.status).toBe(200);
  return answer.headers.get('x-request-id')!;
}

interface Kept {
  data: { index: number; url: string; mime_type: string; expires_at: number }[];
}

const keptOf = async (answer: Promise<Response>) => ((await (await answer).json()) as Kept).data;
const isImage = async (answer: Response) =>
  Buffer.from(await answer.arrayBuffer())
    .subarray(0, PNG.length)
    .equals(PNG);

describe('the images of a charge', () => {
  it('get new links, with any key of the account', async () => {
    const id = await made();
    const kept = await keptOf(customer.send(`/v1/charges/${id}/images`));
    expect(kept.map(({ index, mime_type }) => [index, mime_type])).toEqual([
      [0, 'image/png'],
      [1, 'image/png'],
    ]);
    expect(await isImage(await fetch(kept[1]!.url))).toBe(true);
    const soon = Date.now() / 1_000 + 3_600;
    expect(kept[0]!.expires_at).toBeLessThanOrEqual(soon);
    expect(kept[0]!.expires_at).toBeGreaterThan(soon - 600);
    // Links expire on whole seconds, so one made later would differ.
    await until('the next second but one', () => Promise.resolve(Date.now() / 1_000 + 3_600 > soon + 1));
    const again = await keptOf(customer.send(`/v1/charges/${id}/images`));
    expect(again.map(({ expires_at }) => expires_at)).toEqual(kept.map(({ expires_at }) => expires_at));
  });

  it('are shown in the console, which returns only those of the charge', async () => {
    const [id, other] = [await made(), await made()];
    const [first] = await keptOf(owner.send(`/api/charges/${id}/images`));
    const { pathname, search } = new URL(first!.url);
    const name = pathname.split('/').at(-1)!;
    expect(await isImage(await owner.send(`/api/charges/${id}/images/${name}${search}`))).toBe(true);
    expect((await owner.send(`/api/charges/${other}/images/${name}${search}`)).status).toBe(404);
    const forged = search.replace(/sig=.../, 'sig=AAA');
    expect((await owner.send(`/api/charges/${id}/images/${name}${forged}`)).status).toBe(404);
  });

  it('are empty if images were only sent inline, if the call failed, or if the files are gone', async () => {
    const sent = await made({ response_format: 'b64_json' });
    expect(await keptOf(customer.send(`/v1/charges/${sent}/images`))).toEqual([]);
    const failing = json({ model: 'imgmodel-4', prompt: 'a gate [[fault:reject-503]]' });
    const failed = await customer.send('/v1/images/generations', failing);
    const id = failed.headers.get('x-request-id');
    expect(await keptOf(customer.send(`/v1/charges/${id}/images`))).toEqual([]);
  });

  it('belong to the account', async () => {
    const id = await made();
    expect((await stranger.send(`/v1/charges/${id}/images`)).status).toBe(404);
    expect((await stranger.send('/v1/charges/nonsense/images')).status).toBe(404);
    const other = await person(relay, { accountId: stranger.accountId });
    expect((await other.send(`/api/charges/${id}/images`)).status).toBe(404);
    expect((await fetch(`${relay.baseUrl}/v1/charges/${id}/images`)).status).toBe(401);
  });
});

describe('the links of a charge', () => {
  let brief: Relay;

  beforeAll(async () => {
    brief = await startRelay({ IMAGE_URL_LIFE_SECONDS: '2' });
  });
  afterAll(() => closeClean(brief));

  it('expire with the files', async () => {
    const someone = await brief.customer('1');
    const call = json({ model: 'imgmodel-4', prompt: 'a gate' });
    const answer = await someone.send('/v1/images/generations', call);
    const path = `/v1/charges/${answer.headers.get('x-request-id')}/images`;
    await until('the links to be over', async () => (await keptOf(someone.send(path))).length === 0);
  });
});
