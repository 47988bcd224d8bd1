import { describe, expect, it } from 'vitest';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { allColumns, csvColumns, sendCsv } from './csv.js';

const ROWS = 1_000_000;

describe('a CSV file', () => {
  it('is read as it is sent: rows that nobody has consumed yet are not fetched', async () => {
    let read = 0;
    async function* rows(): AsyncGenerator<{ id: number; note: string }> {
      while (read < ROWS) yield { id: (read += 1), note: 'with "quotes", commas' };
    }
    const headers: Record<string, string> = {};
    const reply = { headers: (more: object) => Object.assign(headers, more) } as unknown as FastifyReply;
    const columns = [
      { title: 'Id', value: (row: { id: number }) => row.id },
      { title: 'Note', value: (row: { note: string }) => row.note },
    ];
    const file = sendCsv(reply, { fileName: 'rows.csv', columns }, rows());
    let text = '';
    for await (const chunk of file) {
      text += String(chunk);
      if (text.length > 100_000) break;
    }
    expect(text.startsWith('Id,Note\n1,"with ""quotes"", commas"\n2,')).toBe(true);
    expect(headers['content-disposition']).toContain('rows.csv');
    expect(read).toBeLessThan(ROWS / 20);
  });
});

it('titles columns by what they show, and shows one cell per column', () => {
  const row = {
    chargeId: 'c',
    heldSince: 'then',
    isOverdue: false,
    transactionIds: ['1', '2'],
    p50Ms: null,
    id: 'i',
    ours: { amount: '5' },
  };
  const columns = csvColumns<typeof row>(
    'chargeId',
    'heldSince',
    'isOverdue',
    'transactionIds',
    'p50Ms',
    'id',
    ['our_amount', ({ ours }) => ours.amount],
  );
  expect(columns.map(({ title, value }) => [title, value(row)])).toEqual([
    ['charge', 'c'],
    ['held_since', 'then'],
    ['overdue', 'false'],
    ['transactions', '1 2'],
    ['p50_ms', null],
    ['id', 'i'],
    ['our_amount', '5'],
  ]);
});

it('has a column for each field of a shape, in its order', () => {
  const columns = allColumns(
    z.object({ lotId: z.string(), isLeft: z.boolean(), topupId: z.string().nullable() }),
  );
  expect(
    columns.map(({ title, value }) => [title, value({ lotId: 'l', isLeft: true, topupId: null })]),
  ).toEqual([
    ['lot', 'l'],
    ['left', 'true'],
    ['topup', null],
  ]);
});
