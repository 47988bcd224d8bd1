import type { Relay } from '../support/relay.js';
import { describePages } from './support/pages.js';

const TOKEN = 'a'.repeat(43);

/** Days with mostly good results, some of them with too little data. */
async function withRecord({ fixture }: Relay): Promise<void> {
  await fixture.owner.query(
    `INSERT INTO model_days
     SELECT (now() AT TIME ZONE 'UTC')::date - ago, 'vendora-chat', CASE WHEN ago = 7 THEN 0.85 ELSE 1 - 0.005 * (ago % 5) END,
       900 + 40 * (ago % 7)
     FROM generate_series(1, 28) AS ago WHERE ago % 9 <> 4`,
  );
}

describePages({
  area: 'visitor',
  as: null,
  pages: [
    { name: 'landing', path: '/', open: (tab) => tab.toEnd() },
    { name: 'connect', path: '/connect' },
    { name: 'retention', path: '/retention' },
    { name: 'marketplace', path: '/marketplace' },
    { name: 'marketplace-table', path: '/marketplace?view=table' },
    { name: 'marketplace-empty', path: '/marketplace?text=nothing-is-called-so' },
    { name: 'model', path: '/marketplace/vendora-chat', prepare: withRecord },
    { name: 'status', path: '/status' },
    { name: 'model-few', path: '/marketplace/vendora-imagine-edit' },
    { name: 'model-of-unknown-calls', path: '/marketplace/vendora-embed' },
    { name: 'sign-in', path: '/sign-in' },
    { name: 'sign-in-ended', path: '/sign-in?next=%2Foverview&ended=yes' },
    { name: 'sign-up', path: '/sign-up?invite=abc123' },
    { name: 'confirm-sign-up', path: `/sign-up/confirm#token=${TOKEN}` },
    {
      name: 'confirm-sign-up-without-token',
      path: '/sign-up/confirm',
      isLoaded: true,
      open: ({ page }) => page.getByText(/^(This link is incomplete|链接不完整)/).waitFor(),
    },
    { name: 'confirm-email', path: `/confirm-email#token=${TOKEN}` },
    { name: 'forgot-password', path: '/forgot-password' },
    { name: 'reset-password', path: `/reset-password#token=${TOKEN}` },
    { name: 'not-found', path: '/there-is-no-such-page' },
  ],
});
