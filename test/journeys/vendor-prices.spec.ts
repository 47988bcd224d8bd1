import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { type StaffMember, staffMember } from '../support/staff.js';
import { runTollgate } from '../support/tollgate.js';

let ledger: LedgerFixture;
let admin: StaffMember;
let other: StaffMember;

beforeAll(async () => {
  ensureBuilt();
  ledger = await createLedgerFixture();
  admin = await staffMember(ledger, 'admin');
  other = await staffMember(ledger, 'admin');
});
afterAll(() => ledger?.close());

function tollgate(...args: string[]): Promise<Finished> {
  return runTollgate(args, { DATABASE_URL: ledger.urlFor('billing'), TOLLGATE_AS: admin.email });
}

interface Printed {
  proposal: { id: string } | null;
  addedModels: string[];
  missing: string[];
  models: { id: string; state: string; marginPercent: string | null }[];
}

async function json(...args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await tollgate(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Printed;
}

async function stateOf(id: string) {
  return (await json('catalog', 'diff', '--model', id)).models[0]!;
}

const KONTEXT = 'flux-kontext-pro';

describe('the vendor catalog on the command line', () => {
  it('changes prices only through a proposal', async () => {
    expect(await stateOf(KONTEXT)).toMatchObject({ state: 'missing', asked: null });
    const importing = ['catalog', 'import', '--margin', '25', '--model', KONTEXT];
    const refused = await tollgate(...importing);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/flux-kontext-pro is not here/) });
    const tried = await json(...importing, '--add-missing', '--dry-run');
    expect(tried).toMatchObject({ proposal: null, addedModels: [KONTEXT] });
    expect((await stateOf(KONTEXT)).state).toBe('missing');
    const { proposal } = await json(...importing, '--add-missing');
    expect(await stateOf(KONTEXT)).toMatchObject({ state: 'unpriced', openProposal: proposal!.id });
    const confirmed = await tollgate('prices', 'confirm', proposal!.id, '--as', other.email);
    expect(confirmed.code).toBe(0);
    expect(await stateOf(KONTEXT)).toMatchObject({
      state: 'current',
      asked: { unitPrice: '0.05' },
      marginPercent: '25',
    });
    expect((await json(...importing)).proposal).toBeNull();
  });

  it('shows a changed list price with its exit code', async () => {
    const { proposal } = await json(
      'catalog',
      'import',
      '--margin',
      '0',
      '--model',
      'flux-kontext-max',
      '--add-missing',
    );
    // As if an earlier version of the catalog had listed a lower price.
    await ledger.owner.query('ALTER TABLE price_bases DISABLE TRIGGER append_only');
    await ledger.owner.query(
      `UPDATE price_bases SET list_price = '{"unitPrice": "0.07"}' WHERE model_id = 'flux-kontext-max'`,
    );
    await ledger.owner.query(
      `UPDATE price_proposals SET changes = jsonb_set(changes, '{0,change,price}', '{"unitPrice": "0.07"}')
       WHERE id = $1`,
      [proposal!.id],
    );
    expect((await tollgate('prices', 'confirm', proposal!.id, '--as', other.email)).code).toBe(0);
    const { code, stdout } = await tollgate('catalog', 'diff');
    expect(code).toBe(1);
    expect(stdout).toMatch(/flux-kontext-max .* moved, below list/);
  });

  it('says what it lists, and rejects invalid input in one sentence', async () => {
    const listed = await tollgate('catalog', 'diff', '--model', 'claude-haiku-4-5');
    expect(listed.stdout).toContain('1/0.1/5/1.25/2 ');
    const { stdout } = await tollgate('catalog', 'import', '--margin', '10', '--vendor', 'fal', '--dry-run');
    expect(stdout).toMatch(/Not in this installation, and left out: .*kling\/v4\/text-to-video/);
    const attempts: [string[], number, RegExp][] = [
      [['import'], 2, /--margin/],
      [['import', '--margin', '-5'], 2, /percentage/],
      [['import', '--margin', '10', '--model', 'none'], 1, /^models: the catalog has no model none\.\n$/],
      [['diff', '--vendor', 'nobody'], 1, /^vendors: the catalog has no vendor nobody\.\n$/],
    ];
    for (const [args, code, sentence] of attempts)
      expect(await tollgate('catalog', ...args)).toMatchObject({
        code,
        stderr: expect.stringMatching(sentence),
      });
  });

  it('needs an administrator to propose', async () => {
    const args = ['catalog', 'import', '--margin', '10', '--vendor', 'fal', '--add-missing'];
    const { code, stderr } = await runTollgate(args, { DATABASE_URL: ledger.urlFor('billing') });
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Name the person who is acting/),
    });
  });
});
