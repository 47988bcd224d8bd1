import { CommanderError } from 'commander';
import { operatorSentence } from '#database/operator-sentence.js';
import { IdentityRefusal } from '#identity/refusal.js';
import { UnknownAccount } from '#ledger/postings/posting.js';
import { TopupConflict } from '#ledger/postings/topup.js';
import { ApiError } from '#platform/errors.js';
import { Interrupted } from './operations/interruption.js';
import { program } from './program.js';

const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

async function run(argv: string[]): Promise<number> {
  try {
    await program().parseAsync(argv);
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    process.stderr.write(`${sentence(error)}\n`);
    return error instanceof Interrupted ? EXIT.interrupted : EXIT.failed;
  }
}

function sentence(error: unknown): string {
  const known =
    error instanceof ApiError ||
    error instanceof IdentityRefusal ||
    error instanceof TopupConflict ||
    error instanceof UnknownAccount;
  if (known) return error.message;
  const { code } = error as { code?: string };
  if (code === '42P01') return 'The database has no schema yet: run `tollgate migrate` first.';
  if (code === '42501')
    return `This login is not allowed to do this: ${(error as Error).message}; use billing's role.`;
  return operatorSentence(error) ?? (error as Error).stack ?? String(error);
}

process.exitCode = await run(process.argv);
