import type { Horizon } from '../postings/horizon.js';
import type { JournalAccount, JournalBalance, JournalTransaction, AmountUnit } from './journal.js';
import type { Range } from './range.js';

/** What a journal is written of, part by part; each is asked for once, and days in their order. */
export interface Books {
  /** Of all accounts that may follow, in their order, also more than once. */
  units(): Promise<AmountUnit[]>;
  accounts(range: Range | null): AsyncIterable<JournalAccount[]>;
  /** One more account, which only the opening balances name. */
  extraAccount(): Promise<JournalAccount | null>;
  opening(horizon: Horizon, range: Range): AsyncIterable<JournalBalance[]>;
  transactions(range: Range, day: string): AsyncIterable<JournalTransaction[]>;
  /** What the accounts that moved on the day hold at its end. */
  closing(): AsyncIterable<JournalBalance[]>;
}
