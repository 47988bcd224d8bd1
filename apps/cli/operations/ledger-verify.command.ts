import { readFileSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type pg from 'pg';
import type { ChainFinding } from '#ledger/chain/chain-difference.js';
import { type ChainVerification, verifyChain, type VerifyOptions } from '#ledger/chain/chain-verify.js';
import { type HeadSignature, parsePublicKey, signaturesOf } from '#ledger/chain/chain-signature.js';
import { argument } from '../arguments.js';
import { command } from '../command.js';
import { onDatabase } from '../database.access.js';
import { facts, printJson, printText } from '../output.js';
import { withBar } from '../progress.js';

const NOTES = `
Every transaction and entry of the ledger is sealed in a block of a hash chain soon after it is posted. This command
recomputes the chain from the rows, on one snapshot of a live database, and names everything edited, removed or inserted
since. It prints the newest hash at the end: keep it elsewhere. The hash is also in every export, on the bus topic
ledger.sealed and in the log. With --head, the chain must contain a hash that you kept, which shows that nobody cut off the
end or rewrote the chain. With --public-key, signatures are checked too: someone who has the database but not the private key
cannot forge them. A standalone relay keeps the public key in chain-signing.pub of its data folder.

It also checks that each stored balance is the sum of its entries, and that the balance after each entry follows from its amount.

Examples:
  tollgate ledger verify
  tollgate ledger verify --head 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  tollgate ledger verify --public-key chain-signing.pub
  tollgate ledger verify --from-block 1200 --json`;

interface Options {
  head?: string;
  publicKey?: KeyObject;
  fromBlock?: bigint;
  toBlock?: bigint;
  json?: boolean;
}

export function verifyCommand(): Command {
  return command(
    'verify',
    'verify the hash chain over the ledger; exits 1 and names what changed since it was sealed',
  )
    .option('--head <hash>', 'the chain must contain this hash', hashArgument)
    .option('--public-key <file>', 'the newest block must be signed by this key (PEM)', publicKeyArgument)
    .option('--from-block <number>', 'the first block to verify', blockArgument)
    .option('--to-block <number>', 'the last block to verify', blockArgument)
    .addHelpText('after', NOTES)
    .action(verify);
}

async function verify({ head, publicKey, fromBlock, toBlock, json }: Options): Promise<void> {
  const asked: VerifyOptions = {
    ...(head !== undefined && { expectedHead: head }),
    ...(publicKey !== undefined && { publicKey }),
    balances: true,
    ...(fromBlock !== undefined && { from: fromBlock }),
    ...(toBlock !== undefined && { to: toBlock }),
  };
  const result = await onDatabase(async (pool) => {
    const verified = await verifyShown(pool, asked);
    const signed =
      verified.head && (await signaturesOf(pool, [verified.head.number])).get(verified.head.number);
    return { ...verified, signature: signed ?? null };
  });
  if (!result.ok) process.exitCode = 1;
  if (json) return printJson(verificationView(result));
  printText(verificationReport(result));
}

function verifyShown(pool: pg.Pool, asked: VerifyOptions): Promise<ChainVerification> {
  return withBar('entries verified', (onProgress) => verifyChain(pool, { ...asked, onProgress }));
}

type Signed = ChainVerification & { signature: HeadSignature | null };

function verificationView({ head, findings, signature, ...result }: Signed) {
  return {
    ...result,
    head: head && {
      number: head.number.toString(),
      hash: head.hash,
      lastId: head.lastId.toString(),
      sealedAt: head.sealedAt,
      signature,
    },
    findings: findings.map((found) => ({
      ...found,
      block: found.block?.toString() ?? null,
      transactionId: found.transactionId?.toString() ?? null,
      ledgerAccountId: found.ledgerAccountId?.toString() ?? null,
    })),
  };
}

function verificationReport(result: Signed): string {
  const { ok, head, signature, blocks, transactions, entries, findingCount, findings } = result;
  const verified = facts([
    ['Verified', `${blocks} blocks, ${transactions} transactions, ${entries} entries`],
    ['Head', head ? `block ${head.number}, ${head.hash}` : 'there is no block yet'],
    ['Signed', signature ? `by the key ${signature.keyId}, ${signature.signature}` : 'not yet, or by no key'],
    ['Sealed', head ? `up to transaction ${head.lastId}, ${head.sealedAt}` : 'nothing'],
  ]);
  if (ok) return `Ledger verify: nothing has changed since it was sealed.\n\n${verified}`;
  const more = findingCount > findings.length ? `\nand ${findingCount - findings.length} more` : '';
  return `Ledger verify: ${findingCount} found.\n\n${findings.map(lineOf).join('\n')}${more}\n\n${verified}`;
}

/** One line each, because a table would cut off the problem. */
function lineOf({ block, reference, message }: ChainFinding): string {
  const where = block === null ? '' : `Block ${block}. `;
  return `${where}${message}${reference === null ? '' : ` Its reference is ${reference}.`}`;
}

export function hashArgument(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Give the 64 hexadecimal digits of a hash.');
}

export function publicKeyArgument(file: string): KeyObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  const key = parsePublicKey(text);
  if (key) return key;
  throw new InvalidArgumentError('Give a file with a public Ed25519 key in PEM.');
}

const blockArgument = argument(/^[1-9]\d{0,17}$/, BigInt, 'Give the number of a block, counted from 1.');
