import type { LinkProps } from '@tanstack/react-router';
import type shell from '../../i18n/en/shell.json';
import type { Shape } from '../../api/client.js';
import { mayAny, type UserRole } from '../session.js';
import type { navigationIcons } from './navigation-icons.js';

type Path = NonNullable<LinkProps['to']>;

interface NavPage {
  /** Its text is `nav.…` in the namespace shell. */
  label: keyof (typeof shell)['nav'];
  to: Path;
  /** Hidden while support views a customer's account: it changes something, or is about the viewer. */
  isOwn?: true;
  /** Other paths that belong to it. */
  leadsTo?: readonly string[];
}

/** A link of the navigation. Pages that share one appear as tabs. */
export interface NavLinkPlace {
  /** Its text and its icon. */
  label: keyof typeof navigationIcons;
  pages: readonly NavPage[];
  /** Listed in the account menu, not in the navigation. */
  isInMenu?: true;
}

/** The pages for one type of work, beginning with its home. */
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

/** Pages that share a link, each with its path and others that belong to it. */
function section(
  label: NavLinkPlace['label'],
  pages: { [Label in NavPage['label']]?: readonly [to: Path, ...leadsTo: string[]] },
): NavLinkPlace {
  const listed = Object.entries(pages) as [NavPage['label'], readonly [Path, ...string[]]][];
  return { label, pages: listed.map(([name, [to, ...leadsTo]]) => ({ label: name, to, leadsTo })) };
}

const approvals = page('approvals', '/approvals');

/** Every listed page, in order. Routes decide who may open a page; this decides where it appears. */
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
      section('logs', { requests: ['/logs'], tasks: ['/tasks'] }),
      page('tokens', '/tokens'),
      page('wallet', '/wallet', { leadsTo: ['/topups'] }),
      section('developers', { connect: ['/connect'], webhooks: ['/webhooks'] }),
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
      section('catalog', {
        catalogModels: ['/admin/models'],
        groups: ['/admin/groups'],
        channels: ['/admin/channels'],
      }),
      page('people', '/admin/people'),
      page('auditLog', '/admin/audit-log'),
      page('retention', '/admin/retention'),
      section('operator', { system: ['/operator/system'], deadLetters: ['/operator/dead-letters'] }),
    ],
  },
  {
    label: 'finance',
    roles: ['finance'],
    links: [
      page('financeHome', '/finance'),
      page('books', '/finance/books', { leadsTo: ['/finance/controls'] }),
      page('reconciliation', '/finance/reconciliation'),
      section('payments', { payments: ['/finance/payments'], adjustments: ['/finance/adjustments'] }),
      section('sales', {
        revenue: ['/finance/revenue', '/finance/price-changes'],
        deferredRevenue: ['/finance/deferred-revenue'],
        costs: ['/finance/costs'],
      }),
      page('holdsAndRefunds', '/finance/work', { leadsTo: ['/finance/charges'] }),
      section('ledger', {
        trialBalance: ['/finance/trial-balance'],
        ledgerAccounts: ['/finance/ledger-accounts', '/finance/transactions'],
      }),
      section('closing', { periods: ['/finance/periods'], exports: ['/finance/exports'] }),
      approvals,
    ],
  },
];

/** Where people start: the first workspace that they have. */
const HOMES: readonly Workspace['label'][] = ['admin', 'finance', 'support', 'account'];

/** The workspaces and pages that a person may open. */
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

/** The page that a person starts at. */
export function homeOf(session: Shape<'Session'>): Path {
  const listed = workspacesOf(session);
  const first = HOMES.flatMap((name) => listed.filter(({ label }) => label === name))[0];
  return first ? firstPathOf(first.links[0]) : '/marketplace';
}

/** The path of a link: that of its first page. */
export function firstPathOf(link: NavLinkPlace | undefined): Path {
  return link?.pages[0]?.to ?? '/overview';
}

/** The listed page that a path belongs to, by the longest match. */
export function listedAt(workspaces: readonly Workspace[], path: string): Path | undefined {
  const pages = workspaces.flatMap(({ links }) => links.flatMap((link) => link.pages));
  return pages
    .flatMap(({ to, leadsTo = [] }) => [to, ...leadsTo].map((begin) => ({ to, begin })))
    .filter(({ begin }) => path === begin || path.startsWith(`${begin}/`))
    .toSorted((one, other) => other.begin.length - one.begin.length)[0]?.to;
}

export function hasPage({ pages }: NavLinkPlace, address: string | undefined): boolean {
  return pages.some(({ to }) => to === address);
}
