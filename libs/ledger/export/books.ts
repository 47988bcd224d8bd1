import type { Horizon } from '../postings/horizon.js';
import type { JournalAccount, JournalBalance, JournalTransaction, AmountUnit } from './journal.js';
import type { Range } from './range.js';

/** The parts of a journal. Each is requested once, and days in order. */
export interface Books {
  /** All accounts that can follow, in order. Some can appear more than once. */
  units(): Promise<AmountUnit[]>;
  accounts(range: Range | null): AsyncIterable<JournalAccount[]>;
  /** One more account, named only by the opening balances. */
  extraAccount(): Promise<JournalAccount | null>;
  opening(horizon: Horizon, range: Range): AsyncIterable<JournalBalance[]>;
  transactions(range: Range, day: string): AsyncIterable<JournalTransaction[]>;
  /** The balances at the end of the day of the accounts that moved on it. */
  closing(): AsyncIterable<JournalBalance[]>;
}
