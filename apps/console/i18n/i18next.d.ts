import 'i18next';
import type account from './en/account.json';
import type admin from './en/admin.json';
import type calls from './en/calls.json';
import type catalog from './en/catalog.json';
import type operator from './en/operator.json';
import type prices from './en/prices.json';
import type shell from './en/shell.json';
import type support from './en/support.json';
import type tickets from './en/tickets.json';
import type tokens from './en/tokens.json';
import type user from './en/user.json';
import type visitor from './en/visitor.json';
import type wallet from './en/wallet.json';
import type webhooks from './en/webhooks.json';

declare module 'i18next' {
  /** The texts in English say which keys there are; a page that uses another does not compile. */
  interface CustomTypeOptions {
    defaultNS: 'shell';
    resources: {
      shell: typeof shell;
      visitor: typeof visitor;
      user: typeof user;
      tokens: typeof tokens;
      wallet: typeof wallet;
      calls: typeof calls;
      tickets: typeof tickets;
      webhooks: typeof webhooks;
      account: typeof account;
      support: typeof support;
      admin: typeof admin;
      prices: typeof prices;
      catalog: typeof catalog;
      operator: typeof operator;
    };
  }
}
