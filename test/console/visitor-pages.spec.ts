import { describePages } from './support/pages.js';

const TOKEN = 'a'.repeat(43);

describePages({
  area: 'visitor',
  as: null,
  pages: [
    { name: 'landing', path: '/' },
    { name: 'connect', path: '/connect' },
    { name: 'retention', path: '/retention' },
    { name: 'marketplace', path: '/marketplace' },
    { name: 'marketplace-table', path: '/marketplace?view=table' },
    { name: 'marketplace-empty', path: '/marketplace?text=nothing-is-called-so' },
    {
      name: 'marketplace-model',
      path: '/marketplace?model=vendora-chat',
      open: ({ page }) => page.getByRole('dialog').getByRole('figure').waitFor(),
    },
    { name: 'sign-in', path: '/sign-in' },
    { name: 'sign-in-ended', path: '/sign-in?next=%2Foverview&ended=yes' },
    { name: 'sign-up', path: '/sign-up?invite=abc123' },
    { name: 'confirm-sign-up', path: `/sign-up/confirm#token=${TOKEN}` },
    { name: 'confirm-sign-up-without-token', path: '/sign-up/confirm' },
    { name: 'confirm-email', path: `/confirm-email#token=${TOKEN}` },
    { name: 'forgot-password', path: '/forgot-password' },
    { name: 'reset-password', path: `/reset-password#token=${TOKEN}` },
    { name: 'not-found', path: '/there-is-no-such-page' },
  ],
});
