import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { oneOf, searchOf, text } from '../../ui/search.js';
import { adminArea } from '../admin.area.js';

const models = createRoute({
  getParentRoute: () => adminArea,
  path: '/models',
  loader: textsOf('catalog'),
  validateSearch: searchOf({
    text,
    family: oneOf('image', 'video', 'chat', 'speech', '3d'),
    /** The model that is open, or the form of a new one. */
    model: text,
    new: oneOf('model', 'alias'),
  }),
  component: lazyRouteComponent(() => import('./models.page.js'), 'ModelsPage'),
});

const groups = createRoute({
  getParentRoute: () => adminArea,
  path: '/groups',
  loader: textsOf('catalog'),
  validateSearch: searchOf({ group: text, new: oneOf('yes') }),
  component: lazyRouteComponent(() => import('./groups.page.js'), 'GroupsPage'),
});

const channels = createRoute({
  getParentRoute: () => adminArea,
  path: '/channels',
  loader: textsOf('catalog'),
  validateSearch: searchOf({ new: oneOf('yes') }),
  component: lazyRouteComponent(() => import('./channels.page.js'), 'ChannelsPage'),
});

const channel = createRoute({
  getParentRoute: () => adminArea,
  path: '/channels/$channelId',
  loader: textsOf('catalog'),
  component: lazyRouteComponent(() => import('./channel.page.js'), 'ChannelPage'),
});

export const catalogRoutes = [models, groups, channels, channel] as const;
