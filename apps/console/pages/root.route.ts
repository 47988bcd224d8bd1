import { createRootRoute } from '@tanstack/react-router';
import type { Namespace } from '../i18n/i18n.js';
import { textsOf } from '../shell/access.js';
import { Navigation, Palette, Tabs } from '../shell/navigation/late-navigation.js';
import { currentSession } from '../shell/session.js';

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
