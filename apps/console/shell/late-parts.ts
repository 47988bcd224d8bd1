import { lazyRouteComponent } from '@tanstack/react-router';

/** Above pages at times, and never above those that visitors arrive at: loaded when it is needed. */
export const ViewingBanner = lazyRouteComponent(() => import('./viewing.js'), 'ViewingBanner');
export const SecondFactorAdvice = lazyRouteComponent(
  () => import('./second-factor.js'),
  'SecondFactorAdvice',
);
export const SecondFactorPage = lazyRouteComponent(() => import('./second-factor.js'), 'SecondFactorPage');
export const OnePersonBanner = lazyRouteComponent(() => import('./one-person.js'), 'OnePersonBanner');
