import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { type StaffMember, staffMember } from '../support/staff.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';

let ledger: LedgerFixture;
let folder: string;
let admin: StaffMember;

beforeAll(async () => {
  ensureBuilt();
  ledger = await createLedgerFixture();
  admin = await staffMember(ledger, 'admin');
  folder = mkdtempSync(join(tmpdir(), 'tollgate-prices-'));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await ledger?.close();
});

function tollgate(...args: string[]): Promise<Finished> {
  return runTollgate(args, { DATABASE_URL: ledger.urlFor('billing'), TOLLGATE_AS: admin.email });
}

interface Printed {
  proposal: { id: string };
  proposals: { id: string }[];
  rows: unknown[];
  items: unknown[];
}

async function json(...args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await tollgate(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Printed;
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A request of the last hour, charged for one image at 0.03. */
async function charge(): Promise<string> {
  const { accountId, keyId } = await ledger.account({ credits: '1' });
  await ledger.owner.query(
    `INSERT INTO charges (id, account_id, key_id, state, family, model_id, requested_model, group_name, units, unit_price,
       multiplier, rule, amount, settled, released, delivered_units, latency_ms, upstream_status, resolved_at)
     VALUES ($1, $2, $3, 'settled', 'image', 'imgmodel-4', 'imgmodel-4', 'Vendora-Main', 1, 0.03, 1, 'list', 30000000,
       30000000, 0, 1, 1234, 200, now())`,
    [newId(), accountId, keyId],
  );
  return accountId;
}

describe('prices', () => {
  it('are exported, changed, imported and confirmed', async () => {
    const { stdout: csv } = await tollgate('prices', 'export');
    const changed = file('prices.csv', csv.replace(/^(price,imgmodel-4,call,)0\.03/m, '$10.035'));
    const dry = await json('prices', 'import', changed, '--dry-run');
    expect(dry).toMatchObject({
      dryRun: true,
      changed: [{ change: { price: { unitPrice: '0.035' } } }],
      proposal: null,
    });
    const { proposal } = await json('prices', 'import', changed, '--note', 'Autumn');
    expect(proposal).toMatchObject({
      state: 'open',
      changes: 1,
      note: 'Autumn',
      proposedBy: `user:${admin.userId}`,
    });
    expect((await json('prices', 'proposals')).proposals).toMatchObject([{ id: proposal.id }]);
    expect(await json('prices', 'confirm', proposal.id)).toMatchObject({ state: 'confirmed' });
    const { rows } = await json('prices', 'list');
    expect(rows).toContainEqual({ kind: 'price', model: 'imgmodel-4', price: { unitPrice: '0.035' } });
    const again = await tollgate('prices', 'confirm', proposal.id);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/was confirmed by user:/) });
    const audited = await ledger.owner.query(
      `SELECT action, actor, request_id LIKE 'cli:%' AS "isByTool" FROM audit_log WHERE subject = 'model:imgmodel-4'`,
    );
    expect(audited.rows).toEqual([
      { action: 'price.changed', actor: `user:${admin.userId}`, isByTool: true },
    ]);
  });

  it('are proposed with a preview of what recent requests would cost', async () => {
    await charge();
    const dry = await json('prices', 'propose', '--price', 'imgmodel-4=0.06', '--dry-run');
    expect(dry).toMatchObject({
      proposal: null,
      preview: { requests: 1, charged: '0.03', proposed: '0.06', rows: [{ model: 'imgmodel-4' }] },
    });
    const text = await tollgate(
      'prices',
      'propose',
      '--price',
      'vendora-chat=3/1.5/12',
      '--rule',
      'Public-Relay=none',
      '--effective-at',
      new Date(Date.now() + 3_600_000).toISOString(),
    );
    expect(text.stdout).toMatch(/Proposal \w{26} of 2 changes holds from .* tollgate prices confirm/);
    const { proposals } = await json('prices', 'proposals');
    expect((await tollgate('prices', 'cancel', proposals[0]!.id)).stdout).toMatch(/cancelled/);
    expect((await tollgate('prices', 'proposals')).stdout).toMatch(/No proposal is open/);
  });

  it('that make no sense are refused in one sentence', async () => {
    const attempts: [string[], number, RegExp][] = [
      [['propose'], 2, /at least one of/],
      [
        ['propose', '--price', 'imgmodel-4=NaN'],
        2,
        /'imgmodel-4=NaN' is invalid. Give a name and an exact decimal/,
      ],
      [['propose', '--price', 'nothing=1'], 1, /^There is no model nothing\.\n$/],
      [['propose', '--price', 'nothing=1', '--dry-run'], 1, /^There is no model nothing\.\n$/],
      [['propose', '--price', 'imgmodel-4=1', '--effective-at', 'tomorrow'], 2, /time with its zone/],
      [['import', join(folder, 'none.csv')], 1, /cannot be read/],
      [['import', file('broken.json', '{')], 1, /must be a JSON list/],
      [['confirm', newId()], 1, /There is no such proposal/],
    ];
    for (const [args, code, message] of attempts) {
      const finished = await tollgate('prices', ...args);
      expect({ args, code: finished.code }).toEqual({ args, code });
      expect(finished.stderr).toMatch(message);
    }
    const refused = await tollgate(
      'prices',
      'import',
      file('bad.csv', 'kind,subject,unit_price\nprice,nothing,1\n'),
    );
    expect(refused).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Line 2 is refused: There is no model nothing\./),
    });
  });
});

describe('usage', () => {
  it('shows the requests of an account, as a table, JSON or CSV', async () => {
    const accountId = await charge();
    expect((await tollgate('usage', accountId)).stdout).toMatch(/imgmodel-4 +settled +0\.03 +1234 +200/);
    expect(await json('usage', accountId, '--state', 'settled')).toMatchObject({
      items: [{ settled: '0.03' }],
    });
    const { stdout } = await tollgate('usage', accountId, '--csv');
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect((await json('usage', accountId, '--model', 'vendora-3d')).items).toEqual([]);
    expect(await tollgate('usage', newId())).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no account/),
    });
  });
});
