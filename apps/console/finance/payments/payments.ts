import type { Item } from '../../api/client.js';

export type Refund = Item<'/api/finance/topup-refunds'>;
