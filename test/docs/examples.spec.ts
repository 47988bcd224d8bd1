import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectCleanLedger } from '../support/relay.js';
import { type Block, blocksOf, consoleSamples, differencesIn, nameOf, pages } from './support/blocks.js';
import { Reader } from './support/reader.js';

const blocks = pages().flatMap(blocksOf);
/** Blocks that are run. Others are parsed as data, or only looked at. */
const RUN = ['bash', 'js', 'ts'];
const DATA = ['json'];
const SHOWN = ['text', 'mermaid'];
/** Run by python.spec.ts, since it needs Python packages. */
const ELSEWHERE = ['python'];
/** Examples from the API pages, one per route. Those of the gateway run below, according to its document. */
const isOfApi = ({ page }: Block) => page.startsWith('docs/api/');

const own = blocks.filter((block) => !isOfApi(block));
const left = own.filter(({ reason }) => reason !== undefined);

describe('the fenced blocks in the texts', () => {
  it('use languages that the tests know', () => {
    const known = [...RUN, ...DATA, ...SHOWN, ...ELSEWHERE];
    expect(blocks.filter(({ language }) => !known.includes(language)).map(nameOf)).toEqual([]);
  });

  it(`say why if they are not run: ${left.length} of ${own.length}`, () => {
    expect(left.filter(({ reason }) => reason!.length < 15).map(nameOf)).toEqual([]);
  });

  it('are JSON if they say so', () => {
    const wrong = blocks.filter(({ language, code }) => language === 'json' && !isJson(code));
    expect(wrong.map(nameOf)).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const runs = own.filter(
  ({ language, reason, isAnswer }) => (RUN.includes(language) && reason === undefined) || isAnswer,
);

describe.each([...new Set(runs.map(({ page }) => page))])('the examples in %s', (page) => {
  let reader: Reader;
  let printed = '';
  beforeAll(async () => {
    reader = await Reader.start(page.replaceAll(/[^a-z]/gi, '-'));
  });
  afterAll(async () => {
    await expectCleanLedger(reader.relay);
    await reader.close();
  });

  it.each(runs.filter((block) => block.page === page).map((block) => [nameOf(block), block] as const))(
    '%s',
    async (_, block) => {
      if (block.isAnswer) expect(differencesIn(JSON.parse(block.code), JSON.parse(printed))).toEqual([]);
      else printed = await (block.receives ? reader.receive(block) : reader.run(block));
    },
  );
});

describe('the programs that the console shows', () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.start('console');
  });
  afterAll(() => reader.close());

  it.each(
    consoleSamples()
      .filter(({ language }) => language !== 'python')
      .map((block) => [block.page, block] as const),
  )('%s', async (_, block) => {
    await reader.run(block);
  });
});

describe('the examples in the gateway’s reference', () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.start('reference');
  });
  afterAll(() => reader.close());

  /** Examples about a particular thing need its ID. */
  const ofGateway = blocks.filter(
    ({ page, language, code }) =>
      page.startsWith('docs/api/gateway-') && language === 'bash' && !/\/\{/.test(code),
  );
  it.each(ofGateway.map((block) => [nameOf(block), block] as const))('%s', async (_, block) => {
    const target = block.code.replace('curl -s ', `curl -s -o answer -w '%{http_code}' `);
    expect(await reader.run({ ...block, code: target })).toMatch(/^20[0-9]$/);
  });
});
