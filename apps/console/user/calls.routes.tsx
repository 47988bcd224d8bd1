import { IconFlask, IconListDetails, IconMovie } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../shell/access.js';
import type { NavEntry } from '../shell/navigation.js';
import { cursor, anyDay, oneOf, searchOf, anyText } from '../ui/search.js';
import { userArea } from './user.area.js';
import { families, chargeStages } from '../api/enumerations.js';

/** Requests and what came of them. */
const usage = createRoute({
  getParentRoute: () => userArea,
  path: '/usage',
  loader: textsOf('calls'),
  validateSearch: searchOf({
    from: anyDay,
    to: anyDay,
    keyId: anyText,
    model: anyText,
    group: anyText,
    family: oneOf(...families),
    state: oneOf(...chargeStages),
    cursor,
    /** The request that is open. */
    charge: anyText,
  }),
  component: lazyRouteComponent(() => import('./usage/usage.page.js'), 'UsagePage'),
});

const tasks = createRoute({
  getParentRoute: () => userArea,
  path: '/tasks',
  loader: textsOf('calls'),
  validateSearch: searchOf({
    kind: oneOf('video', '3d'),
    state: oneOf('running', 'queued', 'in_progress', 'completed', 'failed'),
    model: anyText,
    keyId: anyText,
    cursor,
    /** The task that is open. */
    task: anyText,
  }),
  component: lazyRouteComponent(() => import('./tasks/tasks.page.js'), 'TasksPage'),
});

const playground = createRoute({
  getParentRoute: () => userArea,
  path: '/playground',
  loader: textsOf('calls'),
  validateSearch: searchOf({
    kind: oneOf('image', 'edit', 'video', 'chat', 'speech'),
    model: anyText,
    /** The video that was begun here. */
    task: anyText,
  }),
  component: lazyRouteComponent(() => import('./playground/playground.page.js'), 'PlaygroundPage'),
});

export const callPages = [usage, tasks, playground] as const;

export const callEntries: readonly NavEntry[] = [
  { to: '/playground', label: 'playground', icon: IconFlask, roles: ['user'], isOwn: true },
  { to: '/usage', label: 'usage', icon: IconListDetails, roles: ['user'] },
  { to: '/tasks', label: 'tasks', icon: IconMovie, roles: ['user'] },
];
