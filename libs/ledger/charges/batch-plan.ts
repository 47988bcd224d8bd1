import { type Nanos, nanos, ZERO } from '#money/amount.js';
import type { RefusalCode } from '#bus/payloads.js';
import type { BatchPlan, BatchState, Command, LockedBalance, NewEntry, Resolution } from './batch.js';
import {
  BrokenRule,
  chargeReference,
  type HoldCommand,
  type HoldRefusal,
  type HoldResult,
  inputHash,
  type ResolveCommand,
  type ResolveResult,
  type StoredCharge,
  type Used,
} from './charge.js';
import { usedOf } from './delivered-use.js';
import { decideHold, reject } from './hold-decision.js';

/**
 * Decides a batch in order, on a running sum of the balances, which it changes. Pure: the same state and commands give
 * the same plan. At most one command per charge id.
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
    const decision = decideHold(this.state, command);
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
        return { outcome: 'refused', settled: ZERO, released: ZERO, late: null };
      case 'held':
        return this.resolveHeld(charge, command);
      default:
        return {
          outcome: charge.state,
          settled: charge.settled ?? ZERO,
          released: charge.released ?? ZERO,
          late: charge.state === 'released' ? lateUse(charge, command) : null,
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

  private storeRefusal(command: HoldCommand, refusal: HoldRefusal): void {
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
    if (threshold === null || balance.lowAnnounced || main >= threshold) return;
    balance.lowAnnounced = true;
    this.written.lowBalances.push({ accountId, chargeId, main, threshold });
  }

  /** A failure reported before its hold arrived stores a tombstone, which refuses the hold when it arrives. */
  private resolveUnknown(command: ResolveCommand): ResolveResult | BrokenRule {
    if (command.outcome === 'delivered')
      return new BrokenRule(`charge ${command.chargeId} was delivered but never held`);
    const refusal = reject('abandoned', 'The request was given up before it was charged.');
    this.written.newCharges.push({ command, state: 'refused', inputHash: null, quote: null, refusal });
    return { outcome: 'refused', settled: ZERO, released: ZERO, late: null };
  }

  private resolveHeld(charge: StoredCharge, command: ResolveCommand): ResolveResult {
    const balance = this.balanceOf(charge.accountId);
    const { units, lines, cost } = usedOf(charge, command);
    // Never above the hold: an excess is the operator's loss, never the customer's.
    const settled = cost < charge.amount ? cost : charge.amount;
    const released = nanos(charge.amount - settled);
    const state = command.outcome === 'delivered' && units > 0n ? 'settled' : 'released';
    balance.held -= charge.amount;
    balance.main += released;
    if (charge.amount > 0n) this.written.touchedBalances.set(balance.accountId, balance);
    const resolution: Resolution = {
      charge,
      command,
      state,
      deliveredUnits: units,
      deliveredLines: lines,
      settled,
      released,
      operatorLoss: cost - settled,
    };
    this.postResolution(resolution, balance);
    this.written.resolutions.push(resolution);
    this.addSpend(charge, charge.heldMonth, -released);
    return { outcome: state, settled, released, late: null };
  }

  /** Moves the hold to usage, and the released part back to main. */
  private postResolution(resolution: Resolution, balance: LockedBalance): void {
    const { charge, command, state, settled, released } = resolution;
    const { model, group, keyId } = charge;
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
        dimensions: { model, group, channel: command.channel, keyId },
      },
      {
        ledgerAccountId: balance.mainLedgerId,
        amount: released,
        balanceAfter: balance.main,
        dimensions: null,
      },
    ]);
  }

  /** Adds a transaction of the non-zero entries. One that moves nothing, for example for a free model, is not written. */
  private post(
    kind: string,
    command: HoldCommand | ResolveCommand,
    entries: Omit<NewEntry, 'place' | 'ordinal'>[],
  ): void {
    const moving = entries.filter((entry) => entry.amount !== 0n);
    if (moving.length === 0) return;
    const { accountId, chargeId } = command;
    const place = this.written.transactions.length;
    const reference = chargeReference(chargeId, kind === 'hold' ? 'hold' : 'resolve');
    this.written.transactions.push({ place, kind, reference, accountId, chargeId });
    moving.forEach((entry, ordinal) => this.written.entries.push({ ...entry, place, ordinal }));
  }

  /** Counts for the month of the hold, and for later commands of the batch. */
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

function refused(code: RefusalCode, message: string): HoldResult {
  return { outcome: 'refused', code, message };
}

function spendKey(keyId: string, month: string): string {
  return `${keyId} ${month}`;
}

/** Delivered after all, although the charge was released. */
function lateUse(charge: StoredCharge, command: ResolveCommand): Used | null {
  const used = usedOf(charge, command);
  return used.units > 0n ? used : null;
}
