import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { oneOf, searchOf, anyText } from '../../ui/search.js';
import { adminArea } from '../admin.area.js';
import { families } from '../../api/enumerations.js';

const models = createRoute({
  getParentRoute: () => adminArea,
  path: '/models',
  loader: textsOf('catalog'),
  validateSearch: searchOf({
    text: anyText,
    family: oneOf(...families),
    /** The model that is open, or the form of a new one. */
    model: anyText,
    new: oneOf('model', 'alias'),
  }),
  component: lazyRouteComponent(() => import('./models.page.js'), 'ModelsPage'),
});

const groups = createRoute({
  getParentRoute: () => adminArea,
  path: '/groups',
  loader: textsOf('catalog'),
  validateSearch: searchOf({ group: anyText, new: oneOf('yes') }),
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

export const catalogPages = [models, groups, channels, channel] as const;
