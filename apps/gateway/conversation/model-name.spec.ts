import { describe, expect, it } from 'vitest';
import { withModel } from './model-name.js';

const renamed = (text: string) => withModel(Buffer.from(text), 'ours"1').toString();

describe('the name of a model', () => {
  it.each([
    [
      '{"candidates":[{"modelVersion":"x"}],"modelVersion":"theirs"}',
      '{"candidates":[{"modelVersion":"x"}],"modelVersion":"ours\\"1"}',
    ],
    ['{"model":"theirs","id":1}', '{"model":"ours\\"1","id":1}'],
    [
      '{ "id" : [1,{"model":"x"}],\n "model" :\t"theirs" }',
      '{ "id" : [1,{"model":"x"}],\n "model" :\t"ours\\"1" }',
    ],
    [
      'event: a\ndata: {"response":{"id":"r","model":"t"}}\n\n',
      'event: a\ndata: {"response":{"id":"r","model":"ours\\"1"}}\n\n',
    ],
    [
      '{"type":"message_start","message":{"model":"t"}}',
      '{"type":"message_start","message":{"model":"ours\\"1"}}',
    ],
  ])('is replaced where it is: %j', (text, expected) => {
    expect(renamed(text)).toBe(expected);
  });

  it.each([
    '{"content":"\\"model\\":\\"theirs\\"","n":1}',
    '{"content":"ends in \\\\","metadata":{"model":"theirs"}}',
    '{"choices":[{"message":{"model":"theirs"}}]}',
    '{"response":[{"model":"theirs"}]}',
    '{"model":null,"a":"theirs"}',
    '{"model":{"id":"theirs"}}',
    '{"text":"model","b":"theirs"}',
    '{"model":"cut off',
    'data: [DONE]\n\n',
    ': a comment\n\n',
    '',
  ])('is nowhere else: %j', (text) => {
    expect(renamed(text)).toBe(text);
  });
});
