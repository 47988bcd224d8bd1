import 'i18next';
import type account from './en/account.json';
import type admin from './en/admin.json';
import type calls from './en/calls.json';
import type charts from './en/charts.json';
import type catalog from './en/catalog.json';
import type finance from './en/finance.json';
import type findings from './en/findings.json';
import type operator from './en/operator.json';
import type prices from './en/prices.json';
import type privacy from './en/privacy.json';
import type shell from './en/shell.json';
import type support from './en/support.json';
import type tickets from './en/tickets.json';
import type tokens from './en/tokens.json';
import type user from './en/user.json';
import type visitor from './en/visitor.json';
import type landing from './en/landing.json';
import type models from './en/models.json';
import type wallet from './en/wallet.json';
import type webhooks from './en/webhooks.json';
import type costs from './en/costs.json';
import type adjustments from './en/adjustments.json';
import type payments from './en/payments.json';
import type periods from './en/periods.json';
import type reconciliation from './en/reconciliation.json';
import type reports from './en/reports.json';

declare module 'i18next' {
  /** The English texts define the keys; a page with another key does not compile. */
  interface CustomTypeOptions {
    defaultNS: 'shell';
    returnObjects: true;
    resources: {
      shell: typeof shell;
      visitor: typeof visitor;
      landing: typeof landing;
      models: typeof models;
      user: typeof user;
      tokens: typeof tokens;
      wallet: typeof wallet;
      calls: typeof calls;
      charts: typeof charts;
      tickets: typeof tickets;
      webhooks: typeof webhooks;
      account: typeof account;
      costs: typeof costs;
      adjustments: typeof adjustments;
      finance: typeof finance;
      findings: typeof findings;
      payments: typeof payments;
      periods: typeof periods;
      reconciliation: typeof reconciliation;
      reports: typeof reports;
      support: typeof support;
      admin: typeof admin;
      prices: typeof prices;
      privacy: typeof privacy;
      catalog: typeof catalog;
      operator: typeof operator;
    };
  }
}
