import { userPages, visitorPages } from './customer.pages.js';
import { financePages } from './finance.pages.js';
import { rootRoute } from './root.route.js';
import { adminPages, approvalPages, operatorPages, supportPages } from './staff.pages.js';

/** Every page, in the order of the navigation: the router, the navigation and the search of pages follow from it. */
export const pages = rootRoute.addChildren([
  supportPages,
  approvalPages,
  adminPages,
  financePages,
  operatorPages,
  userPages,
  visitorPages,
]);
