import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';

let ledger: LedgerFixture;
let folder: string;

beforeAll(async () => {
  ensureBuilt();
  ledger = await createLedgerFixture();
  folder = await mkdtemp(join(tmpdir(), 'request-log-'));
  await ledger.owner.query(
    `INSERT INTO charges (id, account_id, state, refusal_code, created_at)
     VALUES ('one', 'account', 'refused', 'insufficient_credits', '2026-01-05T14:30:00Z')`,
  );
});
afterAll(async () => {
  await ledger?.close();
  if (folder) await rm(folder, { recursive: true });
});

function exportLog(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return runTollgate(['request-log', 'export', ...args], { DATABASE_URL: ledger.urlFor('billing'), ...env });
}

const HOURS = ['--from', '2026-01-05T13:00:00Z', '--to', '2026-01-05T15:00:00Z'];

describe('tollgate request-log export', () => {
  it('writes finished hours to a folder, and says which', async () => {
    const { code, stdout, stderr } = await exportLog([...HOURS, '--out', folder, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const bytes = await readFile(join(folder, 'requests/2026/01/05/14.ndjson.gz'));
    expect(gunzipSync(bytes).toString()).toMatch(
      /^\{"chargeId":"one",.*"refusalCode":"insufficient_credits".*\}\n$/,
    );
    expect(JSON.parse(stdout)).toEqual({
      place: folder,
      items: [
        expect.objectContaining({ hour: '2026-01-05T13:00:00.000Z', lines: 0 }),
        {
          hour: '2026-01-05T14:00:00.000Z',
          key: 'requests/2026/01/05/14.ndjson.gz',
          lines: 1,
          bytes: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
        },
      ],
    });
  });

  it('writes to the scheduled export’s store if no folder is given', async () => {
    const { code, stdout } = await exportLog(HOURS, { REQUEST_LOG: 'file', REQUEST_LOG_DIR: folder });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Exported to ${folder}. Hours: 2. Requests: 1.\n` });
  });

  it('refuses hours that are invalid, not finished, or have nowhere to go', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const failures: [string[], number, RegExp][] = [
      [HOURS, 1, /Give --out, or set REQUEST_LOG/],
      [['--from', '2026-01-05', '--to', '2026-01-05', '--out', folder], 1, /--to must be after --from/],
      [['--from', '2026-01-05', '--to', tomorrow, '--out', folder], 1, /Requests can still end before/],
      [['--from', '2026-01-05T13:30:00Z', '--to', tomorrow, '--out', folder], 2, /a full hour/],
    ];
    for (const [args, status, words] of failures) {
      const { code, stderr } = await exportLog(args);
      expect({ code, stderr }).toEqual({ code: status, stderr: expect.stringMatching(words) });
    }
  });
});
