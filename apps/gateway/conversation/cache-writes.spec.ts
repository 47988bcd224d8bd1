import { expect, it } from 'vitest';
import { LongText } from '#platform/http/long-text.js';
import { priceBook } from '#pricing/price-book.fixture.js';
import type { Body } from '../http/fields.js';
import { dearestInput } from './cache-writes.js';
import { readConversation } from './conversation-request.js';

function dearestOf(content: unknown, fields: Body = {}) {
  const body = { model: 'talk', max_tokens: 10, messages: [{ role: 'user', content }], ...fields };
  const model = { id: 'talk' };
  const sold = { catalog: { priceBook }, model, group: 'Main', atMs: 0 };
  return dearestInput(readConversation('messages', body), sold as Parameters<typeof dearestInput>[1]);
}

const text = (ttl?: string) => ({ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl } });

it('finds the dearest mark, wherever a message may have it', () => {
  expect(dearestOf('no mark')).toBe('input');
  expect(dearestOf([text()])).toBe('cacheWrite');
  expect(dearestOf([text(), text('1h'), text()])).toBe('cacheWrite1h');
  expect(dearestOf('a', { cache_control: { type: 'ephemeral' } })).toBe('cacheWrite');
  const inDocument = { type: 'document', source: { type: 'content', content: [text('1h')] } };
  expect(dearestOf([{ type: 'tool_result', tool_use_id: 'call', content: [inDocument] }])).toBe(
    'cacheWrite1h',
  );
});

it('does not walk the bytes of an image', () => {
  let walked = 0;
  const piece = {
    get byte(): number {
      return (walked += 1);
    },
  };
  const data = new LongText([piece as unknown as Buffer], 1, false);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  expect(dearestOf([image, text()])).toBe('cacheWrite');
  expect(walked).toBe(0);
});
