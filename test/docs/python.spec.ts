import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocksOf, consoleSamples, nameOf, pages } from './support/blocks.js';
import { Reader } from './support/reader.js';

let reader: Reader;
beforeAll(async () => {
  if (!process.env['TOLLGATE_DOCS_PYTHON'])
    throw new Error(
      'TOLLGATE_DOCS_PYTHON is not set: npm test -- --only docs installs the SDKs and sets it.',
    );
  reader = await Reader.start('python');
});
afterAll(() => reader?.close());

const runs = [...pages().flatMap(blocksOf), ...consoleSamples()].filter(
  ({ language, reason }) => language === 'python' && reason === undefined,
);

it.each(runs.map((block) => [nameOf(block), block] as const))('%s', async (_, block) => {
  expect(typeof (await reader.run(block))).toBe('string');
});
