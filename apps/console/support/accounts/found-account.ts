import type { Answer } from '../../api/queries.js';

/** An account as support sees it, with its person and keys. */
export type FoundAccount = Answer<'/api/support/accounts/{accountId}'>;
