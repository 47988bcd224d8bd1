import { formatDecimal } from '#money/amount.js';
import type { PriceBook } from '#pricing/price-book.js';
import type { Quote } from '#pricing/quote.js';
import type { BatchPlan, BatchState, Command, Instant, KeyState, LockedBalance } from './batch.js';
import type { BatchContext } from './batch-reader.js';
import type { HoldProof, Written } from './batch-writer.js';
import type { HoldCommand, StoredCharge } from './charge.js';

const MAX_ACCOUNTS = 10_000;
const MAX_CHARGES = 20_000;
/** A batch close to the end of its validity is decided under locks, because clocks and rounding need not agree to the microsecond. */
const MARGIN_MS = 1;

/** The version that a batch gives the balances it writes: known once it has committed, never if it failed. */
export interface BatchVersion {
  /** Unique among an engine's batches. */
  readonly number: string;
  xid: string | null;
}

interface KnownAccount {
  readonly balance: LockedBalance;
  readonly version: BatchVersion;
  readonly keys: ReadonlyMap<string, KeyState>;
  /** The month of its spending. */
  readonly month: string;
}

/** What a batch took from the memory: all it needs, or what is known about its accounts if that is not enough. */
export interface Taken {
  readonly state: BatchState | null;
  readonly accounts: ReadonlyMap<string, KnownAccount>;
}

/**
 * What an engine knows about accounts and charges because it wrote them last. A batch that needs nothing else is
 * decided without reading or locking. The statements that write it prove that nothing has changed since, or write
 * nothing.
 *
 * That proof alone makes it safe. The rest makes it useful: a batch takes what it uses out of the memory, and puts back
 * what it commits. What a failed batch may have changed is read again, and two batches seldom start from the same
 * state.
 */
export class BatchMemory {
  private readonly accounts = new Map<string, KnownAccount>();
  private readonly charges = new Map<string, StoredCharge>();
  private last: Instant | undefined;
  private versions = 0;
  context: BatchContext | undefined;

  /**
   * What a batch needs. Its state is a copy, which planning may change.
   *
   * @param follows - the batch that was sent on the same connection just before and is not answered yet
   */
  take(commands: readonly Command[], follows: BatchVersion | null): Taken {
    const { context } = this;
    const accounts = this.takeAccounts(commands);
    const charges = this.takeCharges(commands);
    const { last } = this;
    const isKnown = ({ kind, command }: Command): boolean => {
      const account = accounts.get(command.accountId);
      if (!account || account.month !== last?.month) return false;
      if (account.version.xid === null && account.version !== follows) return false;
      return kind === 'resolve' ? charges.has(command.chargeId) : account.keys.has(command.keyId);
    };
    if (!last || !context?.priceBook || !commands.every(isKnown)) return { state: null, accounts };
    const known = [...accounts.values()];
    const state = {
      ...last,
      priceBook: context.priceBook,
      usageLedgerIds: context.usageLedgerIds,
      charges,
      balances: new Map(known.map((account) => [account.balance.accountId, balanceOf(account)])),
      keys: new Map(known.flatMap(({ keys }) => [...keys].map(([id, key]) => [id, { ...key }]))),
    };
    return { state, accounts };
  }

  /** Forgets everything: another server may have taken over, where the same versions belong to other changes. */
  forget(): void {
    this.accounts.clear();
    this.charges.clear();
    this.context = undefined;
  }

  /** Stores the accounts that a batch writes. They are of use once it has committed, or to the batch that follows it. */
  keepAccounts(state: BatchState, plan: BatchPlan, version: BatchVersion): void {
    const keysOf = Map.groupBy(state.keys.values(), ({ accountId }) => accountId);
    for (const [accountId, balance] of plan.touchedBalances) {
      const keys = keysOf.get(accountId);
      // Without its keys, the account's spending was not read. A freeze may have ended when the balance was written.
      if (!keys || balance.frozen) continue;
      this.accounts.set(accountId, {
        balance,
        version,
        keys: new Map(keys.map((key) => [key.id, key])),
        // Spending belongs to the month in which the batch was decided. It may have been written in the next.
        month: state.month,
      });
    }
    dropOldest(this.accounts, MAX_ACCOUNTS);
  }

  /** Stores what is known once a batch has committed: its version, its time, and its open charges. */
  commit(plan: BatchPlan, version: BatchVersion, written: Written): void {
    version.xid = written.version;
    this.last = written;
    for (const charge of plan.newCharges) this.keepCharge(charge, written);
    dropOldest(this.charges, MAX_CHARGES);
  }

  newVersion(): BatchVersion {
    this.versions += 1;
    return { number: String(this.versions), xid: null };
  }

  private takeAccounts(commands: readonly Command[]): Map<string, KnownAccount> {
    const taken = new Map<string, KnownAccount>();
    for (const accountId of accountsOf(commands)) {
      const known = this.accounts.get(accountId);
      if (known) taken.set(accountId, known);
      this.accounts.delete(accountId);
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

  private keepCharge(charge: BatchPlan['newCharges'][number], { month }: Instant): void {
    const { command, quote, inputHash } = charge;
    if (!quote || !('keyId' in command)) return;
    this.charges.set(command.chargeId, { ...heldCharge(command, quote, month), inputHash });
  }
}

function balanceOf({ balance, version }: KnownAccount): LockedBalance {
  return { ...balance, version: version.xid };
}

function accountsOf(commands: readonly Command[]): Set<string> {
  return new Set(commands.map(({ command }) => command.accountId));
}

/** The oldest are dropped first: a map keeps the order in which its entries were set. */
function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

function heldCharge(command: HoldCommand, quote: Quote, heldMonth: string): Omit<StoredCharge, 'inputHash'> {
  const { chargeId: id, accountId, keyId, model, group, taskId } = command;
  return {
    id,
    accountId,
    state: 'held',
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

/**
 * Adds what the memory knows to a state that was read under locks: the keys that the batch did not read, and their
 * account's spending. It is still valid if nobody has written the balance since.
 */
export function addKnown(state: BatchState, accounts: Taken['accounts']): void {
  for (const [accountId, known] of accounts) {
    const balance = state.balances.get(accountId);
    if (!balance || balance.version !== known.version.xid || known.month !== state.month) continue;
    balance.spent = known.balance.spent;
    for (const [id, key] of known.keys) if (!state.keys.has(id)) state.keys.set(id, { ...key });
  }
}

/**
 * Whether a plan that was made without locks can be proved. Each command must move a balance, because the version of
 * that row shows whether the batch was right. A refusal, a repeat and a free call move none.
 */
export function isProvable(plan: BatchPlan, commands: readonly Command[]): boolean {
  return plan.transactions.length === commands.length;
}

/** The proof of a batch's holds; null if there are none. */
export function proofOf(state: BatchState, commands: readonly Command[]): HoldProof | null {
  const holds = commands.flatMap((entry) => (entry.kind === 'hold' ? [entry.command] : []));
  if (holds.length === 0) return null;
  const keyIds = [...new Set(holds.map(({ keyId }) => keyId))];
  const keys = keyIds.map((keyId) => state.keys.get(keyId) as KeyState);
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

/** When any price, multiplier or rule changes next; Infinity if nothing is announced. */
function nextPriceMs(book: PriceBook, afterMs: number): number {
  const known = priceChanges.get(book) ?? changesOf(book);
  priceChanges.set(book, known);
  return known.find((atMs) => atMs > afterMs) ?? Infinity;
}

/** When each version takes effect, ascending. */
function changesOf({ prices, multipliers, groupRules }: PriceBook): number[] {
  const versions = [prices, multipliers, groupRules].flatMap((subjects) => [...subjects.values()].flat());
  return versions.map(({ effectiveFromMs }) => effectiveFromMs).sort((a, b) => a - b);
}
