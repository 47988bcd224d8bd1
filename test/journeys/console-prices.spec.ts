import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { paths } from '#apps/console/api/schema.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let admin: Person;
let colleague: Person;
let customer: Customer;

beforeAll(async () => {
  relay = await startRelay();
  admin = await person(relay, { roles: ['admin'] });
  colleague = await person(relay, { roles: ['admin'] });
  customer = await relay.customer('1000');
});
afterAll(() => closeClean(relay));

type Change = Parameters<typeof propose>[0][number];

async function propose(
  changes: (
    | { kind: 'price'; model: string; price: { unitPrice: string } | TokenPrices | null }
    | { kind: 'multiplier'; group: string; multiplier: string | null }
    | { kind: 'rule'; group: string; rule: 'none' }
    | { kind: 'rule'; group: string; rule: 'fixed_per_call'; unitPrice: string }
  )[],
  options: { effectiveAt?: string; by?: Person } = {},
) {
  const { by = admin, effectiveAt } = options;
  const { data, error } = await by.api.POST('/api/admin/price-proposals', {
    body: { changes, note: 'a test', ...(effectiveAt ? { effectiveAt } : {}) },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

interface TokenPrices {
  input: string;
  cachedInput: string;
  output: string;
}

/** An administrator other than the proposer, since most changes here are large. */
async function confirm(proposalId: string, by = colleague, revision = 1) {
  const { data, error, response } = await by.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
    params: { path: { proposalId } },
    body: { revision },
  });
  return { data, error: error?.error, status: response.status };
}

function image(model: string, n = 1): Promise<Response> {
  return customer.send('/v1/images/generations', json({ model, n, prompt: 'a lighthouse [[instant]]' }));
}

describe('a price change', () => {
  it('is proposed, reviewed and confirmed, and then applies to every gateway at once', async () => {
    await image('imgmodel-4', 2);
    const proposal = await propose([{ kind: 'price', model: 'imgmodel-4', price: { unitPrice: '0.05' } }]);
    expect(proposal).toMatchObject({
      state: 'open',
      revision: 1,
      outdated: [],
      changes: [{ before: { kind: 'price', model: 'imgmodel-4', price: { unitPrice: '0.03' } } }],
    });
    const { data: preview } = await admin.api.GET('/api/admin/price-proposals/{proposalId}/preview', {
      params: { path: { proposalId: proposal.id } },
    });
    const counts = { requests: 1, accounts: 1 };
    const amounts = { ...counts, charged: '0.06', current: '0.06', proposed: '0.1', difference: '0.04' };
    expect(preview).toMatchObject({
      ...amounts,
      rows: [{ model: 'imgmodel-4', group: 'Vendora-Main', ...amounts, wouldBeRefused: false }],
    });
    const confirmed = await confirm(proposal.id);
    expect(confirmed.data).toMatchObject({ state: 'confirmed', decidedBy: `user:${colleague.userId}` });
    const before = parseAmount((await customer.balance()).main);
    expect((await image('imgmodel-4')).status).toBe(200);
    expect(before - parseAmount((await customer.balance()).main)).toBe(parseAmount('0.05'));
    const { rows } = await relay.fixture.billing.query(
      `SELECT action, before, after FROM audit_log WHERE subject = 'model:imgmodel-4'`,
    );
    expect(rows).toMatchObject([
      {
        action: 'price.changed',
        before: { price: { unitPrice: '0.03' } },
        after: { price: { unitPrice: '0.05' } },
      },
    ]);
  });

  it('for a group changes its rule: the fixed price of Public-Relay can be seen, changed and ended', async () => {
    const relayed = await relay.customer('1', 'Public-Relay');
    const buy = () =>
      relayed.send('/v1/images/generations', json({ model: 'imgmodel-lite', prompt: 'a boat [[instant]]' }));
    const spent = async () => (await relayed.balance()).main;
    await buy();
    expect(await spent()).toBe('0.9998');
    const proposal = await propose([
      { kind: 'rule', group: 'Public-Relay', rule: 'fixed_per_call', unitPrice: '0.0003' },
    ]);
    expect(proposal.changes[0]?.before).toEqual({
      kind: 'rule',
      group: 'Public-Relay',
      rule: 'fixed_per_call',
      unitPrice: '0.0002',
    });
    await confirm(proposal.id);
    await buy();
    expect(await spent()).toBe('0.9995');
    const ending = [
      { kind: 'rule', group: 'Public-Relay', rule: 'none' },
      { kind: 'multiplier', group: 'Public-Relay', multiplier: '1.5' },
    ] as const;
    const ended = await propose([...ending]);
    const { data: preview } = await admin.api.GET('/api/admin/price-proposals/{proposalId}/preview', {
      params: { path: { proposalId: ended.id } },
    });
    // Two requests at 0.0003, proposed at 0.01 x 1.5 each.
    expect(preview).toMatchObject({ accounts: 1, charged: '0.0005', current: '0.0006', proposed: '0.03' });
    await confirm(ended.id);
    await buy();
    expect(await spent()).toBe('0.9845');
    const { rows } = await relay.fixture.billing.query<{ same: boolean }>(
      `SELECT m.effective_from = r.effective_from AS same FROM multiplier_versions m, group_rule_versions r
       WHERE m.proposal_id = $1 AND r.proposal_id = $1`,
      [ended.id],
    );
    expect(rows).toEqual([{ same: true }]);
  });

  it('recalculates tokens exactly, line by line, and never above the hold', async () => {
    for (const prompt of ['one two three', 'one two three', 'something quite different, and longer']) {
      const sdk = customer.sdk();
      await sdk.chat.completions.create({
        model: 'vendora-chat',
        messages: [{ role: 'user', content: prompt }],
      });
    }
    await until('the answers are charged', async () => {
      const { rows } = await relay.fixture.billing.query(
        `SELECT 1 FROM charges WHERE model_id = 'vendora-chat' AND state = 'settled'`,
      );
      return rows.length === 3;
    });
    const same = { input: '2.5', cachedInput: '1.25', output: '10' };
    const previewOf = async (prices: TokenPrices) => {
      const { id: proposalId } = await propose([{ kind: 'price', model: 'vendora-chat', price: prices }]);
      const { data } = await admin.api.GET('/api/admin/price-proposals/{proposalId}/preview', {
        params: { path: { proposalId } },
      });
      return data!;
    };
    const unchanged = await previewOf(same);
    expect(unchanged).toMatchObject({ requests: 3, difference: '0' });
    expect(unchanged.current).toBe(unchanged.charged);
    const doubled = await previewOf({ input: '5', cachedInput: '2.5', output: '20' });
    expect(parseAmount(doubled.proposed)).toBe(2n * parseAmount(doubled.current));
  });

  it('is announced for a later time, and visible before', async () => {
    const effectiveAt = new Date(Date.now() + 3_600_000).toISOString();
    const model = 'vidmodel-3';
    const proposal = await propose([{ kind: 'price', model, price: { unitPrice: '0.07' } }], { effectiveAt });
    expect((await confirm(proposal.id)).status).toBe(200);
    const again = await admin.api.POST('/api/admin/price-proposals', {
      body: { changes: [{ kind: 'price', model, price: { unitPrice: '0.08' } }], effectiveAt },
    });
    expect(again.error?.error.message).toMatch(/has a version from exactly that time/);
  });

  it('is refused if it makes no sense, and names the wrong change', async () => {
    const attempts: [Change | Record<string, unknown>, RegExp][] = [
      [{ kind: 'price', model: 'nothing', price: { unitPrice: '1' } }, /no model nothing/],
      [{ kind: 'price', model: 'vendora-imagine-video-1.5-preview', price: null }, /is an alias/],
      [{ kind: 'price', model: 'vendora-chat', price: { unitPrice: '1' } }, /priced by the token/],
      [{ kind: 'price', model: 'imgmodel-4', price: { unitPrice: '1000001' } }, /above 1000000/],
      [{ kind: 'multiplier', group: 'Nobody', multiplier: '1' }, /no group Nobody/],
      [{ kind: 'price', model: 'imgmodel-4', price: { unitPrice: 'NaN' } }, /changes\.0/],
      [{ kind: 'price', model: 'imgmodel-4', price: { unitPrice: '-1' } }, /changes\.0/],
      [{ kind: 'price', model: 'imgmodel-4', price: { unitPrice: '1e3' } }, /changes\.0/],
      [{ kind: 'price', model: 'imgmodel-4', price: { unitPrice: 0.02 } }, /changes\.0/],
    ];
    for (const [change, message] of attempts) {
      const { error, response } = await admin.api.POST('/api/admin/price-proposals', {
        body: { changes: [change as never] },
      });
      expect(response.status).toBe(400);
      expect(error?.error.message).toMatch(message);
    }
    const twice = { kind: 'multiplier', group: 'Vendora-Main', multiplier: '2' } as const;
    const { error } = await admin.api.POST('/api/admin/price-proposals', {
      body: { changes: [twice, twice] },
    });
    expect(error?.error.message).toBe('The multiplier of Vendora-Main is changed twice.');
    const past = { changes: [twice], effectiveAt: '2020-01-01T00:00:00Z' };
    expect((await admin.api.POST('/api/admin/price-proposals', { body: past })).error?.error.param).toBe(
      'effectiveAt',
    );
  });

  it('is for administrators; finance can read', async () => {
    const finance = await person(relay, { roles: ['finance'] });
    const body = { changes: [{ kind: 'multiplier', group: 'Vendora-Main', multiplier: '2' } as const] };
    expect((await finance.api.POST('/api/admin/price-proposals', { body })).response.status).toBe(403);
    expect((await finance.api.GET('/api/admin/price-proposals')).response.status).toBe(200);
    const support = await person(relay, { roles: ['support'] });
    expect((await support.api.GET('/api/admin/price-proposals')).response.status).toBe(403);
  });
});

describe('two administrators who change one price', () => {
  const model = 'vendora-imagine-edit';

  it('see each other: the second confirmation is refused and says what changed', async () => {
    const first = await propose([{ kind: 'price', model, price: { unitPrice: '0.021' } }]);
    const second = await propose([{ kind: 'price', model, price: { unitPrice: '0.022' } }], {
      by: colleague,
    });
    expect((await confirm(first.id)).status).toBe(200);
    const { data: looked } = await colleague.api.GET('/api/admin/price-proposals/{proposalId}', {
      params: { path: { proposalId: second.id } },
    });
    expect(looked?.outdated).toHaveLength(1);
    const refused = await confirm(second.id, colleague);
    expect(refused.status).toBe(409);
    expect(refused.error?.message).toMatch(/price of vendora-imagine-edit was 0.02 .* and is 0.021 from /);
    const { data: revised } = await colleague.api.PATCH('/api/admin/price-proposals/{proposalId}', {
      params: { path: { proposalId: second.id } },
      body: { revision: 1, changes: [{ kind: 'price', model, price: { unitPrice: '0.023' } }] },
    });
    expect(revised).toMatchObject({ revision: 2, outdated: [] });
    expect((await confirm(second.id, colleague, 1)).error?.message).toMatch(/now at revision 2/);
    expect((await confirm(second.id, colleague, 2)).status).toBe(200);
    expect((await confirm(second.id, colleague, 2)).error?.message).toMatch(/was confirmed by user:/);
  });

  it('create one version, even if many confirm at the same moment', async () => {
    const proposals = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        propose([{ kind: 'price', model, price: { unitPrice: `0.03${at}` } }], {
          by: at % 2 ? admin : colleague,
        }),
      ),
    );
    const results = await Promise.all(
      proposals.flatMap(({ id }) => [confirm(id, admin), confirm(id, colleague)]),
    );
    expect(results.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
  });

  it('can cancel a proposal', async () => {
    const { id: proposalId } = await propose([{ kind: 'price', model, price: null }]);
    const { data } = await admin.api.POST('/api/admin/price-proposals/{proposalId}/cancel', {
      params: { path: { proposalId } },
      body: { revision: 1 },
    });
    expect(data?.state).toBe('cancelled');
    expect((await confirm(proposalId)).status).toBe(409);
    const { data: open } = await admin.api.GET('/api/admin/price-proposals', {
      params: { query: { state: 'open', limit: 200 } },
    });
    expect(open?.items.map(({ id }) => id)).not.toContain(proposalId);
  });

  it('cannot confirm an unknown proposal', async () => {
    expect((await confirm(newId())).status).toBe(404);
  });
});

describe('a price that changes under load', () => {
  it('is in no charge after its time, and no charge mixes two versions', async () => {
    const model = 'vendora-imagine-image';
    const prices = ['0.024', '0.025', '0.026', '0.027'];
    let isOver = false;
    let served = 0;
    const buyers = Array.from({ length: 50 }, async () => {
      while (!isOver) {
        const response = await image(model, 1 + (served % 3));
        expect(response.status).toBe(200);
        await response.arrayBuffer();
        served += 1;
      }
    });
    const isCharged = (unitPrice: string) =>
      until(`a charge at ${unitPrice}`, async () => {
        const { rows } = await relay.fixture.billing.query(
          'SELECT 1 FROM charges WHERE model_id = $1 AND unit_price = $2 LIMIT 1',
          [model, unitPrice],
        );
        return rows.length === 1;
      });
    await isCharged('0.02');
    for (const [at, unitPrice] of prices.entries()) {
      const change = { kind: 'price', model, price: { unitPrice } } as const;
      const isTimed = at % 2 === 1;
      // A proposal is refused whose time has passed, as it may have on a busy machine.
      await until('a confirmation before its time', async () => {
        const soon = new Date(Date.now() + 5_000).toISOString();
        const proposed = propose([change], isTimed ? { effectiveAt: soon } : {});
        const proposal = await (isTimed ? proposed.catch(() => null) : proposed);
        const { status } = proposal ? await confirm(proposal.id) : { status: 409 };
        expect([200, isTimed ? 409 : 200]).toContain(status);
        return status === 200;
      });
      await isCharged(unitPrice);
    }
    isOver = true;
    await Promise.all(buyers);
    const { rows } = await relay.fixture.billing.query<{ wrong: bigint; versions: bigint; charges: bigint }>(
      `SELECT count(*) AS charges, count(DISTINCT c.price_version_id) AS versions,
         count(*) FILTER (WHERE p.unit_price <> c.unit_price OR c.created_at < p.effective_from
           OR c.amount <> ceil(p.unit_price * c.multiplier * c.units * 1000000000)
           OR EXISTS (SELECT FROM price_versions n WHERE n.model_id = p.model_id
             AND n.effective_from > p.effective_from AND n.effective_from <= c.created_at)) AS wrong
       FROM charges c JOIN price_versions p ON p.id = c.price_version_id WHERE c.model_id = $1`,
      [model],
    );
    expect(rows[0]).toMatchObject({ wrong: 0n, versions: 5n });
    expect(Number(rows[0]?.charges)).toBeGreaterThanOrEqual(served);
  });
});

type ImportAnswer =
  paths['/api/admin/prices/import.csv']['post']['responses'][200]['content']['application/json'] & {
    error: { code: string };
  };

describe('a price file', () => {
  const csv = { 'content-type': 'text/csv' };
  const send = async (path: string, body: string) => {
    const response = await admin.send(path, { method: 'POST', headers: csv, body });
    return { status: response.status, body: (await response.json()) as ImportAnswer };
  };

  it('can be exported and imported without a change', async () => {
    const file = await (await admin.send('/api/admin/prices/export.csv')).text();
    expect(file.split('\n')[0]).toBe(
      'kind,subject,unit,unit_price,input_price,cached_input_price,output_price,cache_write_price,cache_write_1h_price,multiplier,rule,withdrawn,rates,image_input_price,cached_image_input_price,image_output_price,audio_input_price,cached_audio_input_price,audio_output_price',
    );
    const { body } = await send('/api/admin/prices/import.csv', file);
    expect(body).toMatchObject({ added: [], changed: [], refused: [], proposal: null });
    expect(body.same).toBe(file.trim().split('\n').length - 1);
    const { data: exported } = await admin.api.GET('/api/admin/prices/export');
    const { data: imported } = await admin.api.POST('/api/admin/prices/import', {
      body: { rows: exported!.rows },
    });
    expect(imported).toMatchObject({ same: body.same, proposal: null });
  });

  const HEADER = 'kind,subject,unit_price,input_price,cached_input_price,output_price,multiplier,withdrawn\n';

  it('is compared line by line; a dry run proposes nothing', async () => {
    const file =
      HEADER +
      [
        'price,imgmodel-4,0.050,,,,,',
        'price,vendora-chat,,3,1.5,12,,',
        'price,nothing,1,,,,,',
        'price,vendora-3d,NaN,,,,,',
        'price,vendora-speech,-1,,,,,',
        'multiplier,Vendora-Main,,,,,2,',
        'multiplier,Vendora-Main,,,,,3,',
        'price,vendora-messages,1,,,,,',
        'price,vendora-chat-lite,,,,,,yes',
        'price,imgmodel-lite,1e2,,,,,',
        'wish,imgmodel-lite,1,,,,,',
      ].join('\n');
    const { body } = await send('/api/admin/prices/import.csv?dryRun=true', file);
    expect(body).toMatchObject({ dryRun: true, same: 1, proposal: null, added: [] });
    expect(body.changed.map(({ line }) => line)).toEqual([3, 7, 10]);
    expect(body.refused).toMatchObject([
      { line: 4, code: 'no_model', params: { model: 'nothing' }, reason: 'There is no model nothing.' },
      { line: 5, reason: expect.stringContaining('price.unitPrice must be a decimal') },
      { line: 6, reason: expect.stringContaining('price.unitPrice must be a decimal') },
      { line: 8, reason: 'The multiplier of Vendora-Main is in line 7 already.' },
      { line: 9, reason: 'vendora-messages is priced by the token: give input, cachedInput and output.' },
      { line: 11, reason: expect.stringContaining('must be a decimal') },
      { line: 12, reason: 'kind must be price, multiplier or rule.' },
    ]);
  });

  it('becomes one proposal of all differences', async () => {
    const file = `${HEADER}price,imgmodel-4,0.051,,,,,\nprice,vendora-chat,,3,1.5,12,,\n`;
    const { body } = await send('/api/admin/prices/import.csv?note=Autumn', file);
    expect(body.proposal).toMatchObject({ state: 'open', changes: 2, note: 'Autumn' });
    expect((await confirm(body.proposal!.id)).status).toBe(200);
    const { body: again } = await send('/api/admin/prices/import.csv', file);
    expect(again).toMatchObject({ same: 2, proposal: null });
  });

  it('proposes nothing if a line is refused', async () => {
    const { body } = await send(
      '/api/admin/prices/import.csv',
      `${HEADER}price,imgmodel-4,0.06,,,,,\nprice,no,1,,,,,\n`,
    );
    expect(body).toMatchObject({ changed: [{ line: 2 }], refused: [{ line: 3 }], proposal: null });
  });

  it('is refused if it is a different file', async () => {
    for (const file of [
      'kind,subject\n"open',
      'kind,subject,colour\n',
      'price\n',
      '\u0000\u0001',
      'kind,subject\na,b,c\n',
    ]) {
      const { status, body } = await send('/api/admin/prices/import.csv', file);
      expect({ file, status, code: body.error.code }).toEqual({
        file,
        status: 400,
        code: 'invalid_value',
      });
    }
    const rows = [null, 5, 'x', [], { kind: 'price' }, { kind: 'price', model: {}, price: [] }];
    const { data } = await admin.api.POST('/api/admin/prices/import', { body: { rows } });
    expect(data?.refused).toHaveLength(rows.length);
  });
});
