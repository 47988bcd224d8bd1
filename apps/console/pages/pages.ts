import { userPages, visitorPages } from './customer.pages.js';
import { financePages } from './finance.pages.js';
import { rootRoute } from './root.route.js';
import { adminPages, approvalPages, operatorPages, supportPages } from './staff.pages.js';

/** Every page. Where people find them is in `shell/navigation`. */
export const pages = rootRoute.addChildren([
  supportPages,
  approvalPages,
  adminPages,
  financePages,
  operatorPages,
  userPages,
  visitorPages,
]);
