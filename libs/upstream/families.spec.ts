import { afterAll, expect, it } from 'vitest';
import { familiesOf } from '#catalog/offer.js';
import type { Family } from '#pricing/price-book.js';
import { protocolNames, Upstreams } from './adapters.js';
import type { Capability } from './protocol.js';

const FAMILY: Record<Capability, Family> = {
  images: 'image',
  imageEdits: 'image',
  maskedEdits: 'image',
  videos: 'video',
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

it.each(protocolNames)('the catalog knows what %s can serve', (protocol) => {
  const { capabilities } = upstreams.adapterFor(protocol);
  const families = new Set([...capabilities].map((capability) => FAMILY[capability]));
  expect([...families].sort()).toEqual([...familiesOf[protocol]].sort());
});
