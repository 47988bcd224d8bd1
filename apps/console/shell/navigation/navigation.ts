import type { LinkProps } from '@tanstack/react-router';
import type shell from '../../i18n/en/shell.json';
import type { Shape } from '../../api/shape.js';
import { mayAny, type UserRole } from '../session.js';
import type { navigationIcons } from './navigation-icons.js';

type Path = NonNullable<LinkProps['to']>;

interface NavPage {
  /** The text `nav.…` of the namespace shell. */
  label: keyof (typeof shell)['nav'];
  to: Path;
  /** Of no use to support who look at a customer's account: it changes something, or is about the person who looks. */
  isOwn?: true;
  /** Where pages begin that it leads to, besides its own address. */
  leadsTo?: readonly string[];
}

/** A link of the navigation. Pages that share one show each other as tabs. */
export interface NavLinkPlace {
  /** Its text, as of a page, and its icon. */
  label: keyof typeof navigationIcons;
  pages: readonly NavPage[];
  /** Listed in the menu of the account and not beside the pages. */
  isInMenu?: true;
}

/** What belongs to one kind of work. It begins with its home. */
export interface Workspace {
  label: 'account' | 'support' | 'admin' | 'finance';
  roles: readonly UserRole[];
  links: readonly NavLinkPlace[];
}

function page(
  label: NavLinkPlace['label'],
  to: Path,
  more: Pick<NavPage, 'isOwn' | 'leadsTo'> = {},
): NavLinkPlace {
  return { label, pages: [{ label, to, ...more }] };
}

const approvals = page('approvals', '/approvals');

/** Every page that can be chosen, in the order of the navigation. Routes decide who may open one; this, where it is found. */
const all: readonly Workspace[] = [
  {
    label: 'account',
    roles: ['user'],
    links: [
      page('overview', '/overview'),
      page('marketplace', '/marketplace'),
      page('playground', '/playground', { isOwn: true }),
      page('library', '/library'),
      page('usage', '/usage'),
      {
        label: 'logs',
        pages: [
          { label: 'requests', to: '/logs' },
          { label: 'tasks', to: '/tasks' },
        ],
      },
      page('tokens', '/tokens'),
      page('wallet', '/wallet', { leadsTo: ['/topups'] }),
      {
        label: 'developers',
        pages: [
          { label: 'connect', to: '/connect' },
          { label: 'webhooks', to: '/webhooks' },
        ],
      },
      { ...page('tickets', '/tickets'), isInMenu: true },
      {
        label: 'settings',
        isInMenu: true,
        pages: [
          { label: 'profile', to: '/account', isOwn: true },
          { label: 'privacy', to: '/privacy', isOwn: true },
        ],
      },
    ],
  },
  {
    label: 'support',
    roles: ['support', 'admin'],
    links: [page('queue', '/support/tickets'), page('accounts', '/support/accounts'), approvals],
  },
  {
    label: 'admin',
    roles: ['admin'],
    links: [
      page('adminHome', '/admin'),
      page('prices', '/admin/prices'),
      {
        label: 'catalog',
        pages: [
          { label: 'catalogModels', to: '/admin/models' },
          { label: 'groups', to: '/admin/groups' },
          { label: 'channels', to: '/admin/channels' },
        ],
      },
      page('people', '/admin/people'),
      page('auditLog', '/admin/audit-log'),
      page('retention', '/admin/retention'),
      {
        label: 'operator',
        pages: [
          { label: 'system', to: '/operator/system' },
          { label: 'deadLetters', to: '/operator/dead-letters' },
        ],
      },
    ],
  },
  {
    label: 'finance',
    roles: ['finance'],
    links: [
      page('financeHome', '/finance'),
      page('books', '/finance/books', { leadsTo: ['/finance/controls'] }),
      page('reconciliation', '/finance/reconciliation'),
      {
        label: 'payments',
        pages: [
          { label: 'payments', to: '/finance/payments' },
          { label: 'adjustments', to: '/finance/adjustments' },
        ],
      },
      {
        label: 'sales',
        pages: [
          { label: 'revenue', to: '/finance/revenue', leadsTo: ['/finance/price-changes'] },
          { label: 'deferredRevenue', to: '/finance/deferred-revenue' },
          { label: 'costs', to: '/finance/costs' },
        ],
      },
      page('holdsAndRefunds', '/finance/work', { leadsTo: ['/finance/charges'] }),
      {
        label: 'ledger',
        pages: [
          { label: 'trialBalance', to: '/finance/trial-balance' },
          { label: 'ledgerAccounts', to: '/finance/ledger-accounts', leadsTo: ['/finance/transactions'] },
        ],
      },
      {
        label: 'closing',
        pages: [
          { label: 'periods', to: '/finance/periods' },
          { label: 'exports', to: '/finance/exports' },
        ],
      },
      approvals,
    ],
  },
];

/** Where each role begins to work, the first that fits. */
const HOMES: readonly Workspace['label'][] = ['admin', 'finance', 'support', 'account'];

/** What a person may open. What a role may not see is not listed. */
export function workspacesOf(session: Shape<'Session'>): Workspace[] {
  const isListed = ({ isOwn }: NavPage) => !(isOwn && session.viewing !== null);
  return all
    .filter(({ roles }) => mayAny(session, roles))
    .map((workspace) => ({
      ...workspace,
      links: workspace.links
        .map((link) => ({ ...link, pages: link.pages.filter(isListed) }))
        .filter(({ pages }) => pages.length > 0),
    }));
}

/** The page that its work begins with. */
export function homeOf(session: Shape<'Session'>): Path {
  const listed = workspacesOf(session);
  const first = HOMES.flatMap((name) => listed.filter(({ label }) => label === name))[0];
  return first ? firstPathOf(first.links[0]) : '/marketplace';
}

/** Where a link leads: to the first of its pages. */
export function firstPathOf(link: NavLinkPlace | undefined): Path {
  return link?.pages[0]?.to ?? '/overview';
}

/** The listed page that a path belongs to: the one with the longest address that begins it. */
export function listedAt(workspaces: readonly Workspace[], path: string): Path | undefined {
  const pages = workspaces.flatMap(({ links }) => links.flatMap((link) => link.pages));
  return pages
    .flatMap(({ to, leadsTo = [] }) => [to, ...leadsTo].map((begin) => ({ to, begin })))
    .filter(({ begin }) => path === begin || path.startsWith(`${begin}/`))
    .toSorted((one, other) => other.begin.length - one.begin.length)[0]?.to;
}

/** Whether the link has the page. */
export function hasPage({ pages }: NavLinkPlace, address: string | undefined): boolean {
  return pages.some(({ to }) => to === address);
}
