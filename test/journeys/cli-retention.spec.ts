import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepRetention } from '#privacy/retention.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';

const HOUR_MS = 3_600_000;

let ledger: LedgerFixture;

beforeAll(async () => {
  ensureBuilt();
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

function retention(...args: string[]): Promise<Finished> {
  return runTollgate(['retention', ...args], {
    DATABASE_URL: ledger.urlFor('billing'),
  });
}

describe('tollgate retention', () => {
  it('has nothing to report before the first run', async () => {
    const { code, stdout, stderr } = await retention('--json');
    expect({ code, stderr, ...(JSON.parse(stdout) as object) }).toEqual({ code: 0, stderr: '', items: [] });
  });

  it('says how long each class is kept, and what the runs removed', async () => {
    const { billing, owner } = ledger;
    await owner.query(
      `INSERT INTO mail_outbox (template, recipient, ended_at)
       SELECT 'sign_up', n || '@example.com', now() - interval '3 days' FROM generate_series(1, 7) AS n`,
    );
    await sweepRetention(billing, 'mails', 36 * HOUR_MS);
    await sweepRetention(billing, 'mails', 36 * HOUR_MS);
    await sweepRetention(billing, 'images', 2 * HOUR_MS);
    await sweepRetention(billing, 'videos', 25 * 60_000);
    await owner.query(`INSERT INTO retention_runs (class, kept_seconds) VALUES ('answers', 5400)`);

    const printed = JSON.parse((await retention('--json')).stdout) as { items: { class: string }[] };
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(new Map(printed.items.map((item) => [item.class, item]))).toEqual(
      new Map(
        [
          { class: 'mails', keptSeconds: 129_600, lastRunAt: at, removedTotal: '7' },
          { class: 'images', keptSeconds: 7_200, lastRunAt: at, removedTotal: '0' },
          { class: 'videos', keptSeconds: 1_500, lastRunAt: at, removedTotal: '0' },
          { class: 'answers', keptSeconds: 5_400, lastRunAt: null, removedTotal: '0' },
        ].map((item) => [item.class, item]),
      ),
    );
    const { stdout } = await retention();
    expect(stdout).toMatch(/^ Class +Kept +Last run +Removed *\n/);
    expect(stdout).toMatch(/^ mails +1\.5 days +\d{4}-\S+Z +7 *$/m);
    expect(stdout).toMatch(/^ images +2 hours +\d{4}-\S+Z +0 *$/m);
    expect(stdout).toMatch(/^ videos +25 minutes +\d{4}-\S+Z +0 *$/m);
    expect(stdout).toMatch(/^ answers +1\.5 hours +never +0 *$/m);
  });

  it('takes no arguments', async () => {
    expect(await retention('prompts')).toMatchObject({ code: 2, stdout: '' });
  });
});
