import { describe, expect, it } from 'vitest';
import { codeSamples } from '../../visitor/code-samples.js';
import { codeParts } from './code-parts.js';

const samples = codeSamples({ baseUrl: 'http://127.0.0.1:8787', apiKey: 'sk-tg-key' });
const of = (id: string, kind: string) =>
  codeParts(samples.find((sample) => sample.id === id)!.code)
    .filter((part) => part.kind === kind)
    .map(({ code }) => code);

describe('the parts of code', () => {
  it.each(samples)('add up to all of $id', ({ code }) => {
    expect(
      codeParts(code)
        .map((part) => part.code)
        .join(''),
    ).toBe(code);
  });

  it('distinguish comments, texts and keywords from the rest', () => {
    expect(of('openai-python', 'comment')).toEqual(['# pip install openai']);
    expect(of('curl', 'text')).toContain('"Authorization: Bearer sk-tg-key"');
    expect(of('curl', 'comment')).toEqual([]);
    expect(of('openai-js', 'word')).toEqual(['import', 'from', 'const', 'new', 'const', 'await']);
  });
});
