import { afterAll, expect, it } from 'vitest';
import type { Family } from '#pricing/price-book.js';
import { canServe, protocolNames, soundOfVideos, Upstreams } from './adapters.js';
import type { Capability } from './protocol.js';
import { channelTo } from './upstream.fixture.js';

const FAMILY: Record<Capability, Family> = {
  images: 'image',
  imageEdits: 'image',
  maskedEdits: 'image',
  videos: 'video',
  silentVideos: 'video',
  videoRemixes: 'video',
  assets3d: '3d',
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  contents: 'chat',
  speech: 'speech',
  transcription: 'speech',
  translation: 'speech',
  imageStream: 'image',
  editStream: 'image',
  embeddings: 'chat',
  messagesCount: 'chat',
  contentsCount: 'chat',
};

const upstreams = new Upstreams();
afterAll(() => upstreams.close());

it.each(protocolNames)('%s serves exactly what it declares', (protocol) => {
  const { capabilities } = upstreams.adapterFor(protocol);
  const offered = new Set([...capabilities].map((capability) => FAMILY[capability]));
  const said = new Set(Object.values(FAMILY).filter((family) => canServe(protocol, family)));
  expect(said).toEqual(offered);
});

it.each(protocolNames)(
  '%s declares for its videos, and nothing else, whether they have sound',
  (protocol) => {
    const { capabilities } = upstreams.adapterFor(protocol);
    expect(soundOfVideos(protocol) !== undefined).toBe(capabilities.has('videos'));
  },
);

it('a protocol of a later version serves nothing, and its channel fails each test', async () => {
  const later = channelTo('https://api.example.com', { protocol: 'constructor' });
  expect(canServe(later.protocol, 'image')).toBe(false);
  expect(upstreams.serving([later], 'images')).toEqual([]);
  const webhook = { headers: {}, query: {}, body: Buffer.from('{}'), nowMs: 0 };
  expect(await upstreams.readWebhook(later, webhook)).toBeNull();
  const failed = { verdict: 'failed', detail: 'this version knows no protocol: constructor' };
  expect(await upstreams.probe(later, 1_000)).toMatchObject(failed);
  expect(await upstreams.probeKeys(later, 1_000)).toMatchObject([failed]);
});
