import { describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { sendCsv } from './csv.js';

const ROWS = 1_000_000;

describe('a CSV file', () => {
  it('is read as it is sent: rows that nobody has taken yet are not fetched', async () => {
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
