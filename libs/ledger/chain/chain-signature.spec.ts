import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { ChainBuilder, currentHead } from './chain.js';
import { HeadSigner, keyIdOf, parsePublicKey, parseSigningKey, signaturesOf } from './chain-signature.js';
import { verifyChain } from './chain-verify.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const signer = new HeadSigner(privateKey);
let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  for (let blocks = 0; blocks < 3; blocks += 1) await sealMore();
});
afterAll(() => fixture.close());

async function sealMore(): Promise<void> {
  await fixture.account({ credits: '1' });
  // A long transaction of another spec in the cluster delays the horizon.
  await until('it is sealed', async () => (await builder().seal()).length > 0);
}

const builder = () => new ChainBuilder({ pool: fixture.billing, log: { info: () => undefined } });
const statesOf = async () =>
  (await verifyChain(fixture.billing, { publicKey })).findings.map(({ state }) => state);

/** Rewrites the ledger like someone with every right in the database but without the key. */
async function forge(...statements: string[]): Promise<void> {
  const client = await fixture.owner.connect();
  try {
    await client.query('SET session_replication_role = replica');
    for (const sql of statements) await client.query(sql);
  } finally {
    client.release(true);
  }
}

describe('a signature', () => {
  it('is made once for each head, no matter who signs, and announced with it', async () => {
    expect(await statesOf()).toEqual(['head_unsigned']);
    const signed = await Promise.all(Array.from({ length: 4 }, () => signer.sign(fixture.billing)));
    expect(signed.filter(Boolean)).toHaveLength(1);
    expect(await statesOf()).toEqual([]);
    const head = await currentHead(fixture.billing);
    const signature = (await signaturesOf(fixture.billing, [head!.number])).get(head!.number);
    expect(signature?.keyId).toBe(keyIdOf(publicKey));
    const { rows } = await fixture.owner.query<{ payload: object }>(
      `SELECT payload FROM outbox WHERE topic = 'ledger.head'`,
    );
    expect(rows.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ hash: head?.hash, keyId: signature?.keyId, signature: signature?.signature }),
    ]);
  });

  it('is reported missing for a newer head until that is signed', async () => {
    await sealMore();
    expect(await statesOf()).toEqual(['head_unsigned']);
    await signer.sign(fixture.billing);
    expect(await statesOf()).toEqual([]);
  });

  it('reveals a ledger that was rewritten together with its chain', async () => {
    await forge(
      'UPDATE ledger_entries SET amount = amount * 2, balance_after = balance_after * 2',
      'DELETE FROM ledger_chain_leaves',
      'DELETE FROM ledger_chain_accounts',
      'DELETE FROM ledger_chain_blocks',
    );
    const anew = new ChainBuilder({
      pool: fixture.billing,
      log: { info: () => undefined },
      blockTransactions: 1,
    });
    await anew.seal();
    expect((await verifyChain(fixture.billing)).ok).toBe(true);
    expect(await statesOf()).toContain('signature_invalid');
    await forge('DELETE FROM ledger_chain_signatures');
    expect(await statesOf()).toEqual(['head_unsigned']);
  });
});

describe('stored balances', () => {
  it('are reported where they differ from the sum of their entries', async () => {
    const { findings } = await verifyChain(fixture.billing, { balances: true });
    expect(new Set(findings.map(({ state }) => state))).toEqual(new Set(['balance_differs']));
    await forge(
      'UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE ctid = (SELECT ctid FROM ledger_entries WHERE balance_after IS NOT NULL LIMIT 1)',
    );
    const found = await verifyChain(fixture.billing, { balances: true });
    expect(found.findings.map(({ state }) => state)).toContain('entry_balance_differs');
  });
});

describe('a key', () => {
  it('is read from PEM and from the base64 of its DER', () => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const der = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
    for (const text of [pem, der]) expect(new HeadSigner(parseSigningKey(text)!).keyId).toBe(signer.keyId);
    expect(keyIdOf(parsePublicKey(publicKey.export({ type: 'spki', format: 'pem' }).toString())!)).toBe(
      signer.keyId,
    );
  });

  it('is Ed25519', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(parseSigningKey(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())).toBeNull();
    expect(parsePublicKey(rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString())).toBeNull();
    expect(parseSigningKey('no key')).toBeNull();
  });
});
