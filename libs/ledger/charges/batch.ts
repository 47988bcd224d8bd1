import type { RefusalCode } from '#bus/payloads.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import type { ChargeLine, Quote } from '#pricing/quote.js';
import type {
  BrokenRule,
  HoldCommand,
  HoldResult,
  ResolveCommand,
  ResolveResult,
  StoredCharge,
} from './charge.js';

/** What a batch of charges is decided on, and what it writes. */

/** A customer's stored balances and the ledger accounts behind them, as locked or proved by the batch. */
export interface LockedBalance {
  /** The version of the row: the transaction id (xid) that wrote it. Null: the batch that is being written before this one. */
  version: string | null;
  accountId: string;
  main: bigint;
  held: bigint;
  frozen: boolean;
  /** What all keys of the account together may hold in a UTC month. Null: no limit. */
  monthlyLimit: bigint | null;
  /** Held amounts of all its keys in this month minus what was released or refunded. Read only if there is a limit. */
  spent: bigint;
  /** The owner is notified when a hold takes main below it, once until credits raise it again; null: never. */
  lowThreshold: bigint | null;
  lowAnnounced: boolean;
  mainLedgerId: bigint;
  heldLedgerId: bigint;
}

export interface KeyState {
  id: string;
  accountId: string;
  group: string;
  allowedModels: string[] | null;
  /** Addresses and CIDR ranges from which it works. Null: from anywhere. */
  allowedIps: string[] | null;
  monthlyLimit: bigint | null;
  /** Held amounts of this UTC month minus what was released or refunded. */
  spent: bigint;
  totalLimit: bigint | null;
  /** The same for all months. Read only if there is a limit. */
  totalSpent: bigint;
  expiresAtMs: number | null;
  revoked: boolean;
  /** Its group is open, or its account has access. */
  hasGroup: boolean;
  /** How often the settings above were changed. While it is the same, so are they. */
  rulesVersion: bigint;
}

/** A time of the database's clock, which decides all times of the ledger. */
export interface Instant {
  nowMs: number;
  /** The same instant as PostgreSQL prints it, to the microsecond. */
  now: string;
  /** First day of its UTC month. */
  month: string;
}

/** What a batch is decided on: read under its locks, or known from earlier batches and verified when it is written. */
export interface BatchState extends Instant {
  priceBook: PriceBook;
  charges: Map<string, StoredCharge>;
  balances: Map<string, LockedBalance>;
  keys: Map<string, KeyState>;
  /** Ledger account ids of usage:{family}. */
  usageLedgerIds: Record<Family, bigint>;
}

export type Command = { kind: 'hold'; command: HoldCommand } | { kind: 'resolve'; command: ResolveCommand };
export type Result = HoldResult | ResolveResult | BrokenRule;
/** What answers a command. An Error rejects it. */
export type Answer = Result | Error;

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
  /** What was delivered beyond the hold, at its price. Nobody pays it. */
  operatorLoss: bigint;
}

interface NewTransaction {
  /** Its place in the batch; the database numbers the batch's transactions from a block of ids. */
  place: number;
  kind: string;
  reference: string;
  accountId: string;
  chargeId: string;
}

export interface NewEntry {
  /** The place of its transaction. */
  place: number;
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
