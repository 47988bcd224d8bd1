import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { inTransaction } from '#database/database.js';
import { currentHead } from './chain.js';
import { type ChainFinding, finding } from './chain-difference.js';
import type { ChainBlock } from './chain-text.js';

/** The signature that proves that a block is ours and, through its hash, every block before it. */
export interface HeadSignature {
  readonly keyId: string;
  /** Base64. */
  readonly signature: string;
  /** ISO 8601. */
  readonly signedAt: string;
}

/** The signed text: these lines, each ending with a line feed. */
export function headText({ number, hash }: Pick<ChainBlock, 'number' | 'hash'>): string {
  return `tollgate ledger head 1\nblock ${number}\nhash ${hash}\n`;
}

/** Signs the newest block of the chain. */
export class HeadSigner {
  readonly keyId: string;

  constructor(private readonly key: KeyObject) {
    this.keyId = keyIdOf(createPublicKey(key));
  }

  /**
   * Signs the newest block once, and announces it. If several processes try, one succeeds. A block added in the meantime is
   * signed in the next round.
   * @returns whether there was anything to sign
   */
  sign(pool: pg.Pool): Promise<boolean> {
    return inTransaction(pool, async (client) => {
      const head = await currentHead(client);
      if (head === null || (await this.hasSigned(client, head))) return false;
      const signature = sign(null, Buffer.from(headText(head)), this.key);
      const { rowCount } = await client.query(
        `INSERT INTO ledger_chain_signatures (block_number, key_id, signature) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [head.number, this.keyId, signature],
      );
      if (rowCount === 0) return false;
      await this.announce(client, head, signature.toString('base64'));
      return true;
    });
  }

  private async hasSigned(client: pg.ClientBase, { number }: ChainBlock): Promise<boolean> {
    const { rowCount } = await client.query(
      'SELECT FROM ledger_chain_signatures WHERE block_number = $1 AND key_id = $2',
      [number, this.keyId],
    );
    return rowCount === 1;
  }

  private async announce(client: pg.ClientBase, head: ChainBlock, signature: string): Promise<void> {
    const { number, hash, lastId, sealedAt } = head;
    const named = { number: number.toString(), hash, lastId: lastId.toString(), sealedAt };
    const signed = outboxRow(topics.ledgerHead, { ...named, keyId: this.keyId, signature });
    await client.query(outboxInsert('billing', [signed]));
  }
}

/** The first characters of the SHA-256 of a public key as SubjectPublicKeyInfo. */
export function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}

/** A private key as PEM, or as the base64 of its PKCS #8; null for anything but Ed25519. */
export function parseSigningKey(text: string): KeyObject | null {
  return ed25519(() =>
    text.includes('BEGIN')
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' }),
  );
}

/** A public key as PEM; null for anything but Ed25519. */
export function parsePublicKey(text: string): KeyObject | null {
  return ed25519(() => createPublicKey(text));
}

function ed25519(read: () => KeyObject): KeyObject | null {
  try {
    const key = read();
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

/** The newest signature of each of these blocks. */
export async function signaturesOf(
  database: pg.Pool | pg.ClientBase,
  numbers: readonly bigint[],
): Promise<Map<bigint, HeadSignature>> {
  const { rows } = await database.query<HeadSignature & { number: bigint }>(
    `SELECT block_number AS number, key_id AS "keyId", encode(signature, 'base64') AS signature,
       to_char(signed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "signedAt"
     FROM ledger_chain_signatures WHERE block_number = ANY ($1::bigint[]) ORDER BY ledger_chain_signatures.signed_at`,
    [numbers],
  );
  return new Map(
    rows.map(({ number, signature, ...rest }) => [
      number,
      // PostgreSQL breaks base64 into lines.
      { ...rest, signature: signature.replaceAll('\n', '') },
    ]),
  );
}

const SIGNATURES = `SELECT s.block_number AS number, encode(b.hash, 'hex') AS hash, s.signature
  FROM ledger_chain_signatures s JOIN ledger_chain_blocks b ON b.number = s.block_number
  WHERE s.key_id = $1 ORDER BY s.block_number`;

/** Compares every signature of a key with the chain; the newest block needs one. */
export async function signatureFindings(
  client: pg.ClientBase,
  head: Pick<ChainBlock, 'number' | 'hash'> | null,
  publicKey: KeyObject,
): Promise<ChainFinding[]> {
  const keyId = keyIdOf(publicKey);
  const { rows } = await client.query<{ number: bigint; hash: string; signature: Buffer }>(SIGNATURES, [
    keyId,
  ]);
  const findings = rows
    .filter((row) => !verify(null, Buffer.from(headText(row)), publicKey, row.signature))
    .map(({ number }) => {
      const message = `Block ${number} is not what the key ${keyId} signed: it, or one before it, was rewritten.`;
      return finding('signature_invalid', message, { block: number });
    });
  const newest = rows.at(-1)?.number ?? 0n;
  if (head && newest < head.number) {
    const upTo = newest === 0n ? 'nothing is signed by it' : `it signed up to block ${newest}`;
    const message = `Block ${head.number}, the newest, is not signed by the key ${keyId}: ${upTo}. Billing signs each head soon after it is sealed.`;
    findings.push(finding('head_unsigned', message, { block: head.number }));
  }
  return findings;
}
