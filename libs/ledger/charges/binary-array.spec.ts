import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { fixedArray, textArray } from './binary-array.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

/** The elements as the database prints them. */
async function readBack(type: string, array: Buffer): Promise<(string | null)[]> {
  const { rows } = await ledger.owner.query<{ item: string | null }>(
    `SELECT item::text FROM unnest($1::${type}[]) WITH ORDINALITY AS t (item, place) ORDER BY place`,
    [array],
  );
  return rows.map(({ item }) => item);
}

it.each<[Parameters<typeof fixedArray>[0], Parameters<typeof fixedArray>[1], (string | null)[]]>([
  [
    'bigint',
    [-(2n ** 63n), 2n ** 63n - 1n, '7', 0, null],
    ['-9223372036854775808', '9223372036854775807', '7', '0', null],
  ],
  ['integer', [-(2 ** 31), 2 ** 31 - 1, undefined], ['-2147483648', '2147483647', null]],
  ['smallint', [-1, 32767], ['-1', '32767']],
  ['float8', [1767225600000.25, null], ['1767225600000.25', null]],
  ['boolean', [true, false, null], ['true', 'false', null]],
  ['xid', ['4294967295', '3', null], ['4294967295', '3', null]],
  ['date', ['2026-11-01', '1999-12-31', '2000-01-01'], ['2026-11-01', '1999-12-31', '2000-01-01']],
])('%s arrays arrive as they are', async (type, items, printed) => {
  expect(await readBack(type, fixedArray(type, items))).toEqual(printed);
});

it('text arrays arrive as they are', async () => {
  const texts = [
    '',
    'plain',
    'a "quoted" \\ {list},\n',
    'NULL',
    'Grüße 你好 😀',
    'x'.repeat(70_000),
    'é'.repeat(128),
    null,
  ];
  expect(await readBack('text', textArray(texts))).toEqual(texts);
});

it('empty arrays have no elements', async () => {
  expect(await readBack('text', textArray([]))).toEqual([]);
  expect(await readBack('bigint', fixedArray('bigint', []))).toEqual([]);
});
