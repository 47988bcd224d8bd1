import type { GetAnswer } from '../../api/client.js';

/** An account as support sees it, with its person and keys. */
export type AccountRecord = GetAnswer<'/api/support/accounts/{accountId}'>;
