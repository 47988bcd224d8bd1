import type { AnyRoute } from '@tanstack/react-router';
import type shell from '../../i18n/en/shell.json';
import type { Shape } from '../../api/shape.js';
import type { navigationIcons } from './navigation-icons.js';
import { mayAny, type UserRole } from '../session.js';

type Label = keyof (typeof shell)['nav'];

/** Where the navigation lists a page. */
interface NavPlace {
  /** The text `nav.…` of the namespace shell, and the name of its icon. */
  label: keyof typeof navigationIcons;
  /** Of no use to support who look at a customer's account: it changes something, or is about the person who looks. */
  isOwn?: true;
}

/** A part of the navigation, with who sees it. */
interface NavArea {
  /** The text `nav.…` above the entries; staff see several parts. */
  label: Label;
  roles: readonly UserRole[];
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The part of the navigation that the pages below are listed in, and who sees it. */
    area?: NavArea;
    nav?: NavPlace;
  }
}

interface NavEntry extends NavPlace {
  to: string;
  roles: readonly UserRole[];
}

export interface NavGroup {
  label: Label;
  entries: NavEntry[];
}

/** What the navigation lists, in the order of the table of pages. */
export function navigationOf(root: AnyRoute): NavGroup[] {
  const groups = new Map<Label, NavGroup>();
  for (const route of childrenOf(root)) {
    const { area } = route.options.staticData ?? {};
    if (!area) continue;
    const { label, roles } = area;
    const group = groups.get(label) ?? { label, entries: [] };
    groups.set(label, group);
    for (const page of [route, ...childrenOf(route)]) {
      const { nav } = page.options.staticData ?? {};
      if (nav) group.entries.push({ ...nav, roles, to: page.fullPath as string });
    }
  }
  return [...groups.values()];
}

function childrenOf(route: AnyRoute): AnyRoute[] {
  return Object.values((route.children ?? {}) as Record<string, AnyRoute>);
}

/** Whether the roles of the user open it. What a role may not see is not listed. */
export function isListed({ roles, isOwn }: NavEntry, session: Shape<'Session'>): boolean {
  return mayAny(session, roles) && !(isOwn && session.viewing !== null);
}
