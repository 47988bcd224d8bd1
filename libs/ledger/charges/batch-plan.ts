import { formatAmount, type Nanos, nanos, parseDecimal, formatDecimal, ZERO } from '#money/amount.js';
import type { RefusalCode } from '#bus/topics.js';
import { isInRanges } from '#identity/ip-list.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import { amountFor, type ChargeLine, linesAmount, quote, type Quote, withTokens } from '#pricing/quote.js';
import {
  BrokenRule,
  chargeReference,
  type HoldCommand,
  type HoldResult,
  inputHash,
  type ResolveCommand,
  type ResolveResult,
  type StoredCharge,
} from './charge.js';

/** A customer's stored balances and the ledger accounts behind them, as locked by the batch. */
export interface LockedBalance {
  accountId: string;
  main: bigint;
  held: bigint;
  frozen: boolean;
  /** What all keys of the account may hold in a UTC month together; null: no limit. */
  monthlyLimit: bigint | null;
  /** Held amounts of all its keys in this month less what came back; read only where there is a limit. */
  spent: bigint;
  /** The owner is told when a hold takes main below it, once until credits bring it back; null: never. */
  lowThreshold: bigint | null;
  lowTold: boolean;
  mainLedgerId: bigint;
  heldLedgerId: bigint;
}

export interface KeyState {
  id: string;
  accountId: string;
  group: string;
  allowedModels: string[] | null;
  /** Addresses and CIDR ranges from which it is good; null: from everywhere. */
  allowedIps: string[] | null;
  monthlyLimit: bigint | null;
  /** Held amounts of this UTC month less what came back. */
  spent: bigint;
  totalLimit: bigint | null;
  /** The same of all months; read only where there is a limit. */
  totalSpent: bigint;
  expiresAtMs: number | null;
  revoked: boolean;
  /** Its group is open, or granted to its account. */
  hasGroup: boolean;
}

/** What the batch read under its locks; the database's clock decides times. */
export interface BatchState {
  nowMs: number;
  /** The same instant as PostgreSQL prints it, to the microsecond. */
  now: string;
  /** First day of the current UTC month. */
  month: string;
  /** The batch numbers its transactions from here. */
  firstTransactionId: bigint;
  priceBook: PriceBook;
  charges: Map<string, StoredCharge>;
  balances: Map<string, LockedBalance>;
  keys: Map<string, KeyState>;
  /** Ledger account ids of usage:{family}. */
  usageLedgerIds: Record<Family, bigint>;
}

export type Command = { kind: 'hold'; command: HoldCommand } | { kind: 'resolve'; command: ResolveCommand };
export type Result = HoldResult | ResolveResult | BrokenRule;

interface NewCharge {
  command: HoldCommand | ResolveCommand;
  state: 'held' | 'refused';
  inputHash: Buffer | null;
  quote: Quote | null;
  refusal: { code: RefusalCode; message: string } | null;
}

export interface Resolution {
  charge: StoredCharge;
  command: ResolveCommand;
  state: 'settled' | 'released';
  deliveredUnits: bigint;
  deliveredLines: readonly ChargeLine[] | null;
  settled: bigint;
  released: bigint;
  /** What was delivered beyond the hold, at its price: nobody pays it. */
  operatorLoss: bigint;
}

interface NewTransaction {
  id: bigint;
  kind: string;
  reference: string;
  accountId: string;
  chargeId: string;
}

interface NewEntry {
  transactionId: bigint;
  ordinal: number;
  ledgerAccountId: bigint;
  amount: bigint;
  balanceAfter: bigint | null;
  dimensions: { model: string; group: string; channel: string | null; keyId: string } | null;
}

export interface LowBalance {
  accountId: string;
  chargeId: string;
  main: bigint;
  threshold: bigint;
}

/** Everything that the batch writes, decided before anything is written. */
export interface BatchPlan {
  results: Result[];
  newCharges: NewCharge[];
  resolutions: Resolution[];
  transactions: NewTransaction[];
  entries: NewEntry[];
  touchedBalances: Map<string, LockedBalance>;
  /** Change of spend by `${keyId} ${month}`. */
  keySpend: Map<string, bigint>;
  /** Accounts whose balance fell below their threshold, with the charge that did it. */
  lowBalances: LowBalance[];
}

/**
 * Decides a batch in order, on a running sum of the locked balances. Pure: the same state and commands give the same
 * plan. At most one command for each charge id.
 */
export function planBatch(state: BatchState, commands: readonly Command[]): BatchPlan {
  const planner = new Planner(state);
  const results = commands.map((entry) =>
    entry.kind === 'hold' ? planner.hold(entry.command) : planner.resolve(entry.command),
  );
  return { results, ...planner.written };
}

class Planner {
  readonly written: Omit<BatchPlan, 'results'> = {
    newCharges: [],
    resolutions: [],
    transactions: [],
    entries: [],
    touchedBalances: new Map(),
    keySpend: new Map(),
    lowBalances: [],
  };

  constructor(private readonly state: BatchState) {}

  hold(command: HoldCommand): HoldResult {
    const stored = this.state.charges.get(command.chargeId);
    if (stored) return this.storedHold(stored, command);
    const decision = this.decideHold(command);
    if ('code' in decision) {
      if (decision.code !== 'stale_quote') this.storeRefusal(command, decision);
      return { outcome: 'refused', ...decision };
    }
    const balance = this.balanceOf(command.accountId);
    this.move(command, balance, decision.amount);
    this.written.newCharges.push({
      command,
      state: 'held',
      inputHash: inputHash(command),
      quote: decision,
      refusal: null,
    });
    this.addSpend(command, this.state.month, decision.amount);
    return { outcome: 'held', amount: decision.amount, balance: nanos(balance.main) };
  }

  resolve(command: ResolveCommand): ResolveResult | BrokenRule {
    const charge = this.state.charges.get(command.chargeId);
    if (!charge) return this.resolveUnknown(command);
    if (charge.accountId !== command.accountId) {
      return new BrokenRule(`charge ${command.chargeId} is not of account ${command.accountId}`);
    }
    switch (charge.state) {
      case 'refused':
        return { outcome: 'refused', settled: ZERO, released: ZERO, late: false };
      case 'held':
        return this.resolveHeld(charge, command);
      default:
        return {
          outcome: charge.state,
          settled: charge.settled ?? ZERO,
          released: charge.released ?? ZERO,
          late: command.outcome === 'delivered' && charge.state === 'released',
        };
    }
  }

  private storedHold(stored: StoredCharge, command: HoldCommand): HoldResult {
    if (stored.inputHash === null)
      return refused(stored.refusalCode ?? 'abandoned', stored.refusalMessage ?? '');
    if (!stored.inputHash.equals(inputHash(command))) {
      return refused('conflict', 'This charge id was used for another request.');
    }
    if (stored.state === 'refused')
      return refused(stored.refusalCode ?? 'abandoned', stored.refusalMessage ?? '');
    if (stored.state !== 'held') return refused('abandoned', 'This charge has already ended.');
    return { outcome: 'held', amount: stored.amount, balance: nanos(this.balanceOf(stored.accountId).main) };
  }

  private decideHold(command: HoldCommand): Quote | { code: RefusalCode; message: string } {
    const { nowMs, priceBook } = this.state;
    if (command.expiresAtMs < nowMs)
      return reject('expired', 'The request was processed after it had expired.');
    const key = this.state.keys.get(command.keyId);
    const balance = this.state.balances.get(command.accountId);
    if (!key || !balance || key.accountId !== command.accountId || key.revoked) {
      return reject('key_revoked', 'The API key has been deleted.');
    }
    if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs)
      return reject('key_expired', 'The API key has expired.');
    if (!key.hasGroup) {
      const instead = 'Use a key of another group, or ask support for this one.';
      return reject(
        'group_not_granted',
        `The group ${key.group} is no longer open to this account. ${instead}`,
      );
    }
    if (key.allowedModels && !this.mayUse(key.allowedModels, command.model)) {
      return reject('model_not_allowed', `The API key may not use model ${command.model}.`);
    }
    if (key.allowedIps && !isInRanges(key.allowedIps, command.clientIp ?? null)) {
      return reject('ip_not_allowed', 'The API key may not be used from this address.');
    }
    const priced =
      key.group === command.group
        ? quote(priceBook, {
            model: command.model,
            group: command.group,
            units: command.units,
            tokens: command.tokens,
            atMs: nowMs,
          })
        : 'model_not_found';
    if (typeof priced === 'string') {
      return reject(
        'model_not_found',
        `No available channel for model ${command.model} under group ${command.group}`,
      );
    }
    if (priced.amount !== command.quotedAmount) {
      return reject('stale_quote', `The price is now ${formatAmount(priced.amount)}.`);
    }
    return this.coverFault(key, balance, priced.amount) ?? priced;
  }

  /** Who allows a model allows its other names too; who allows one of those allows no more than that name. */
  private mayUse(allowed: readonly string[], model: string): boolean {
    const pricedAs = this.state.priceBook.models.get(model)?.pricedAs;
    return allowed.includes(model) || (pricedAs !== undefined && allowed.includes(pricedAs));
  }

  private coverFault(
    key: KeyState,
    balance: LockedBalance,
    amount: Nanos,
  ): { code: RefusalCode; message: string } | null {
    if (balance.frozen) return reject('account_frozen', 'The account is frozen. Please contact support.');
    if (key.monthlyLimit !== null && key.spent + amount > key.monthlyLimit) {
      return reject(
        'key_limit_exceeded',
        `The API key's monthly limit is ${formatAmount(key.monthlyLimit)}.`,
      );
    }
    if (key.totalLimit !== null && key.totalSpent + amount > key.totalLimit) {
      return reject('key_limit_exceeded', `The API key's limit is ${formatAmount(key.totalLimit)}.`);
    }
    if (balance.monthlyLimit !== null && balance.spent + amount > balance.monthlyLimit) {
      return reject(
        'account_limit_exceeded',
        `The account's monthly limit is ${formatAmount(balance.monthlyLimit)}.`,
      );
    }
    if (balance.main < amount) {
      return reject(
        'insufficient_user_quota',
        `The balance is too low: the request costs ${formatAmount(amount)} and ${formatAmount(balance.main)} is available.`,
      );
    }
    return null;
  }

  private storeRefusal(command: HoldCommand, refusal: { code: RefusalCode; message: string }): void {
    this.written.newCharges.push({
      command,
      state: 'refused',
      inputHash: inputHash(command),
      quote: null,
      refusal,
    });
  }

  private move(command: HoldCommand, balance: LockedBalance, amount: Nanos): void {
    balance.main -= amount;
    balance.held += amount;
    this.written.touchedBalances.set(balance.accountId, balance);
    this.noteLowBalance(command, balance);
    this.post('hold', command, [
      {
        ledgerAccountId: balance.mainLedgerId,
        amount: -amount,
        balanceAfter: balance.main,
        dimensions: null,
      },
      { ledgerAccountId: balance.heldLedgerId, amount, balanceAfter: balance.held, dimensions: null },
    ]);
  }

  private noteLowBalance({ chargeId }: HoldCommand, balance: LockedBalance): void {
    const { accountId, main, lowThreshold: threshold } = balance;
    if (threshold === null || balance.lowTold || main >= threshold) return;
    balance.lowTold = true;
    this.written.lowBalances.push({ accountId, chargeId, main, threshold });
  }

  /** A failure reported before its hold came stores a tombstone, which refuses the hold when it comes. */
  private resolveUnknown(command: ResolveCommand): ResolveResult | BrokenRule {
    if (command.outcome === 'delivered')
      return new BrokenRule(`charge ${command.chargeId} was delivered but never held`);
    const refusal = reject('abandoned', 'The request was given up before it was charged.');
    this.written.newCharges.push({ command, state: 'refused', inputHash: null, quote: null, refusal });
    return { outcome: 'refused', settled: ZERO, released: ZERO, late: false };
  }

  private resolveHeld(charge: StoredCharge, command: ResolveCommand): ResolveResult {
    const balance = this.balanceOf(charge.accountId);
    const { units, lines, cost } = charge.lines ? usedTokens(charge, command) : usedUnits(charge, command);
    // Never above the hold: an excess is the operator's loss, never the customer's (design.md 3).
    const settled = cost < charge.amount ? cost : charge.amount;
    const released = nanos(charge.amount - settled);
    const state = command.outcome === 'delivered' && units > 0n ? 'settled' : 'released';
    balance.held -= charge.amount;
    balance.main += released;
    if (charge.amount > 0n) this.written.touchedBalances.set(balance.accountId, balance);
    this.post(state === 'settled' ? 'settle' : 'release', command, [
      {
        ledgerAccountId: balance.heldLedgerId,
        amount: -charge.amount,
        balanceAfter: balance.held,
        dimensions: null,
      },
      {
        ledgerAccountId: this.state.usageLedgerIds[charge.family],
        amount: settled,
        balanceAfter: null,
        dimensions: {
          model: charge.model,
          group: charge.group,
          channel: command.channel,
          keyId: charge.keyId,
        },
      },
      {
        ledgerAccountId: balance.mainLedgerId,
        amount: released,
        balanceAfter: balance.main,
        dimensions: null,
      },
    ]);
    this.written.resolutions.push({
      charge,
      command,
      state,
      deliveredUnits: units,
      deliveredLines: lines,
      settled,
      released,
      operatorLoss: cost - settled,
    });
    this.addSpend(charge, charge.heldMonth, -released);
    return { outcome: state, settled, released, late: false };
  }

  /** Adds a transaction of the non-zero entries; one that moves nothing, as of a free model, is not written. */
  private post(
    kind: string,
    command: HoldCommand | ResolveCommand,
    entries: Omit<NewEntry, 'transactionId' | 'ordinal'>[],
  ): void {
    const moving = entries.filter((entry) => entry.amount !== 0n);
    if (moving.length === 0) return;
    const { accountId, chargeId } = command;
    const id = this.state.firstTransactionId + BigInt(this.written.transactions.length);
    const reference = chargeReference(chargeId, kind === 'hold' ? 'hold' : 'resolve');
    this.written.transactions.push({ id, kind, reference, accountId, chargeId });
    moving.forEach((entry, ordinal) => this.written.entries.push({ ...entry, transactionId: id, ordinal }));
  }

  /** Counts for the month of the hold, and in what the later commands of the batch are decided by. */
  private addSpend(of: { keyId: string; accountId: string }, month: string, amount: bigint): void {
    if (amount === 0n) return;
    const row = spendKey(of.keyId, month);
    this.written.keySpend.set(row, (this.written.keySpend.get(row) ?? 0n) + amount);
    const key = this.state.keys.get(of.keyId);
    const balance = this.balanceOf(of.accountId);
    if (key) key.totalSpent += amount;
    if (month !== this.state.month) return;
    if (key) key.spent += amount;
    balance.spent += amount;
  }

  private balanceOf(accountId: string): LockedBalance {
    const balance = this.state.balances.get(accountId);
    if (!balance) throw new Error(`balances of account ${accountId} were not locked`);
    return balance;
  }
}

function reject(code: RefusalCode, message: string): { code: RefusalCode; message: string } {
  return { code, message };
}

function refused(code: RefusalCode, message: string): HoldResult {
  return { outcome: 'refused', code, message };
}

function spendKey(keyId: string, month: string): string {
  return `${keyId} ${month}`;
}

interface Used {
  units: bigint;
  lines: readonly ChargeLine[] | null;
  cost: Nanos;
}

const NOTHING: Used = { units: 0n, lines: null, cost: ZERO };

/** Units delivered of those held: more than was asked is trimmed, so it costs nobody anything. */
function usedUnits(charge: StoredCharge, command: ResolveCommand): Used {
  const asked = command.deliveredUnits ?? charge.units;
  if (command.outcome === 'failed' || asked <= 0n) return NOTHING;
  if (asked >= charge.units || charge.unitPrice === null) {
    return { units: charge.units, lines: null, cost: charge.amount };
  }
  const cost = amountFor(parseDecimal(charge.unitPrice), parseDecimal(charge.multiplier), asked);
  return { units: asked, lines: null, cost };
}

/** Metered work costs what was used, also when that is more than was held. */
function usedTokens(charge: StoredCharge, command: ResolveCommand): Used {
  if (command.outcome === 'failed' || !charge.lines) return NOTHING;
  const lines = command.deliveredTokens ? withTokens(charge.lines, command.deliveredTokens) : charge.lines;
  const units = lines.reduce((sum, line) => sum + line.units, 0n);
  return { units, lines, cost: linesAmount(lines, parseDecimal(charge.multiplier)) };
}

/** The lines as the charge stores them: exact texts. */
export function linesJson(lines: readonly ChargeLine[]): string {
  return JSON.stringify(
    lines.map(({ kind, units, unitPrice }) => ({
      kind,
      units: String(units),
      unitPrice: formatDecimal(unitPrice),
    })),
  );
}
