import {
  type AnyRoute,
  type RouteComponent,
  createRootRoute,
  createRoute,
  lazyRouteComponent as lazy,
} from '@tanstack/react-router';
import type { Namespace } from '../i18n/i18n.js';
import { textsOf } from '../shell/access.js';
import { Navigation, Palette, Tabs } from '../shell/navigation/late-navigation.js';
import { currentSession } from '../shell/session.js';
import { type Readers, searchOf } from '../ui/search.js';

/** The root of all pages, which loads the session. The router draws the frame. */
export const rootRoute = createRootRoute({
  beforeLoad: async (): Promise<void> => {
    // Pages must be able to say that the relay is away.
    await currentSession().catch(() => null);
  },
  loader: async (): Promise<void> => {
    if (await currentSession().catch(() => null))
      await Promise.all([Navigation.preload?.(), Tabs.preload?.(), Palette.preload?.()]);
  },
});

/** A page's parent, its path and the texts that it needs beside its parent's, for `createRoute`. */
export function below<Parent, const Path extends string>(parent: Parent, path: Path, ...texts: Namespace[]) {
  return { getParentRoute: () => parent, path, loader: textsOf(...texts) };
}

interface Place<Parent, Path> {
  getParentRoute: () => Parent;
  path: Path;
  loader: () => Promise<void>;
  beforeLoad?: (opened: { location: { href: string } }) => Promise<void>;
}

/** A page: its place, the module that loads when it opens, and what its address can say. */
export function page<
  Parent extends AnyRoute,
  const Path extends string,
  Fields extends Readers = Record<never, never>,
>(place: Place<Parent, Path>, load: () => Promise<{ default: RouteComponent }>, fields = {} as Fields) {
  return createRoute({ ...place, validateSearch: searchOf(fields), component: lazy(load) });
}
