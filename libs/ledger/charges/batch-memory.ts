import { formatDecimal } from '#money/amount.js';
import type { PriceBook } from '#pricing/price-book.js';
import type { Quote } from '#pricing/quote.js';
import type { BatchPlan, BatchState, Command, Instant, KeyState, LockedBalance } from './batch.js';
import type { BatchContext } from './batch-reader.js';
import type { Proof, Written } from './batch-writer.js';
import { type HoldCommand, inputHash, type StoredCharge } from './charge.js';

const MAX_ACCOUNTS = 10_000;
const MAX_CHARGES = 20_000;
/** A batch near the end of what it was decided for is decided under locks: clocks and roundings need not agree to the microsecond. */
const MARGIN_MS = 1;

interface KnownAccount {
  readonly balance: LockedBalance;
  readonly keys: ReadonlyMap<string, KeyState>;
  /** The month that its spends are of. */
  readonly month: string;
}

/**
 * What an engine knows of accounts and charges because it wrote them last. A batch that needs nothing else is decided
 * without reading or locking; the statement that writes it proves that nothing has changed since, or writes nothing.
 *
 * A batch takes what it uses out, and what it committed is put back. So nothing here is of a batch that failed, and no two
 * batches are decided by the same state.
 */
export class BatchMemory {
  private readonly accounts = new Map<string, KnownAccount>();
  private readonly charges = new Map<string, StoredCharge>();
  /** How many batches in flight use an account. */
  private readonly users = new Map<string, number>();
  private last: Instant | undefined;

  /**
   * Begins a batch; `end` ends it.
   * @returns the state that decides these commands, or null when they must be read.
   */
  take(commands: readonly Command[], context: BatchContext): BatchState | null {
    const accounts = this.takeAccounts(commands);
    const charges = this.takeCharges(commands);
    const { last } = this;
    if (!last || !context.priceBook) return null;
    const isKnown = ({ kind, command }: Command): boolean => {
      const account = accounts.get(command.accountId);
      if (account?.month !== last.month) return false;
      return kind === 'resolve' ? charges.has(command.chargeId) : account.keys.has(command.keyId);
    };
    if (!commands.every(isKnown)) return null;
    const known = [...accounts.values()];
    return {
      ...last,
      priceBook: context.priceBook,
      usageLedgerIds: context.usageLedgerIds,
      charges,
      balances: new Map(known.map(({ balance }) => [balance.accountId, balance])),
      keys: new Map(known.flatMap(({ keys }) => [...keys])),
    };
  }

  /** Keeps what a batch left behind, but for accounts that another batch is about to change. */
  keep(state: BatchState, plan: BatchPlan, written: Written): void {
    this.last = written;
    for (const charge of plan.newCharges) this.keepCharge(charge, written);
    const keysOf = Map.groupBy(state.keys.values(), ({ accountId }) => accountId);
    for (const [accountId, balance] of plan.touchedBalances) {
      const keys = keysOf.get(accountId);
      // Without its keys, what the account has spent was not read; a freeze may have ended as the balance was written.
      if (!keys || balance.frozen || this.users.get(accountId) !== 1) continue;
      this.accounts.set(accountId, {
        balance: { ...balance, version: written.version },
        keys: new Map(keys.map((key) => [key.id, key])),
        month: written.month,
      });
    }
    dropOldest(this.accounts, MAX_ACCOUNTS);
    dropOldest(this.charges, MAX_CHARGES);
  }

  end(commands: readonly Command[]): void {
    for (const accountId of accountsOf(commands)) {
      const others = (this.users.get(accountId) ?? 1) - 1;
      if (others > 0) this.users.set(accountId, others);
      else this.users.delete(accountId);
    }
  }

  private takeAccounts(commands: readonly Command[]): Map<string, KnownAccount> {
    const taken = new Map<string, KnownAccount>();
    for (const accountId of accountsOf(commands)) {
      const known = this.accounts.get(accountId);
      if (known) taken.set(accountId, known);
      this.accounts.delete(accountId);
      this.users.set(accountId, (this.users.get(accountId) ?? 0) + 1);
    }
    return taken;
  }

  private takeCharges(commands: readonly Command[]): Map<string, StoredCharge> {
    const taken = new Map<string, StoredCharge>();
    for (const { chargeId } of commands.map(({ command }) => command)) {
      const known = this.charges.get(chargeId);
      if (known) taken.set(chargeId, known);
      this.charges.delete(chargeId);
    }
    return taken;
  }

  private keepCharge({ command, quote }: BatchPlan['newCharges'][number], { month }: Instant): void {
    if (!quote || !('keyId' in command)) return;
    this.charges.set(command.chargeId, heldCharge(command, quote, month));
  }
}

function accountsOf(commands: readonly Command[]): Set<string> {
  return new Set(commands.map(({ command }) => command.accountId));
}

/** The oldest go first: a map keeps the order in which its entries were set. */
function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

/** A hold as the batch that makes it stores it. */
function heldCharge(command: HoldCommand, quote: Quote, heldMonth: string): StoredCharge {
  const { chargeId: id, accountId, keyId, model, group, taskId } = command;
  return {
    id,
    accountId,
    state: 'held',
    inputHash: inputHash(command),
    keyId,
    family: quote.model.family,
    model,
    group,
    units: quote.units,
    unitPrice: quote.unitPrice && formatDecimal(quote.unitPrice),
    lines: quote.lines,
    multiplier: formatDecimal(quote.multiplier),
    amount: quote.amount,
    settled: null,
    released: null,
    refusalCode: null,
    refusalMessage: null,
    taskId,
    heldMonth,
  };
}

/** What proves a plan that was made without locks, or null when it has to be made under them. */
export function proofOf(state: BatchState, plan: BatchPlan, commands: readonly Command[]): Proof | null {
  // Each command moved a balance: it is the version of that row that tells whether the batch was right.
  if (plan.transactions.length !== commands.length) return null;
  const holds = commands.flatMap((entry) => (entry.kind === 'hold' ? [entry.command] : []));
  const keys = [...new Set(holds.map(({ keyId }) => keyId))]
    .sort()
    .map((keyId) => state.keys.get(keyId) as KeyState);
  const ends = [
    nextMonthMs(state.month),
    nextPriceMs(state.priceBook, state.nowMs),
    ...keys.map(({ expiresAtMs }) => expiresAtMs ?? Infinity),
    ...holds.map(({ expiresAtMs }) => expiresAtMs),
  ];
  return { revision: state.priceBook.revision, from: state, untilMs: Math.min(...ends) - MARGIN_MS, keys };
}

/** The start of the month after this one. */
function nextMonthMs(month: string): number {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number, 1);
}

const priceChanges = new WeakMap<PriceBook, number[]>();

/** When any price, multiplier or rule changes next; Infinity when nothing is announced. */
function nextPriceMs(book: PriceBook, afterMs: number): number {
  const known = priceChanges.get(book) ?? changesOf(book);
  priceChanges.set(book, known);
  return known.find((atMs) => atMs > afterMs) ?? Infinity;
}

/** Those that may still come, ascending. */
function changesOf({ prices, multipliers, groupRules }: PriceBook): number[] {
  const versions = [prices, multipliers, groupRules].flatMap((subjects) => [...subjects.values()].flat());
  return versions.map(({ effectiveFromMs }) => effectiveFromMs).sort((a, b) => a - b);
}
