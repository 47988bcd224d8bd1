import { adminNavigation } from '../admin/admin.routes.js';
import { financeNavigation } from '../finance/finance.routes.js';
import { operatorNavigation } from '../operator/operator.routes.js';
import { supportNavigation } from '../support/support.routes.js';
import { userNavigation } from '../user/user.routes.js';
import { visitorNavigation } from '../visitor/visitor.routes.js';
import type { NavGroup } from './navigation.js';

/** What the navigation lists, in its order. Each area says who sees its entries. */
export const navigation: readonly NavGroup[] = [
  supportNavigation,
  adminNavigation,
  financeNavigation,
  operatorNavigation,
  userNavigation,
  visitorNavigation,
];
