import type { Item } from '../../api/queries.js';

export type Refund = Item<'/api/finance/topup-refunds'>;
