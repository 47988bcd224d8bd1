import { lazyRouteComponent } from '@tanstack/react-router';

/** The entries of the navigation. Visitors have none, so it is loaded with the first page of a session. */
export const Navigation = lazyRouteComponent(() => import('./sidebar.js'), 'Sidebar');
export const Tabs = lazyRouteComponent(() => import('./section-tabs.js'), 'SectionTabs');
