const page = (text, link) => ({ text, link });
const group = (text, items, collapsed) => ({
  text,
  items,
  ...(collapsed === undefined ? {} : { collapsed }),
});

/** The sidebar, in the order in which people need it. */
export const sections = [
  group('Start', [
    page('Quick start', '/getting-started'),
    page('Concepts', '/concepts'),
    page('Billing explained', '/billing'),
  ]),
  group('Build', [
    page('Endpoints', '/clients'),
    page('OpenAI SDK for Node', '/guides/openai'),
    page('Anthropic SDK', '/guides/anthropic'),
    page('Google SDK', '/guides/google'),
    page('Vercel AI SDK', '/guides/vercel-ai-sdk'),
    page('Python', '/guides/python'),
    page('curl', '/guides/curl'),
    page('Errors', '/errors'),
    page('Rate limits', '/rate-limits'),
    page('Webhooks', '/webhooks'),
    page('Resellers', '/resellers'),
  ]),
  group('Operate', [
    page('Operating', '/operating'),
    page('Runbooks', '/runbooks'),
    page('Configuration', '/configuration'),
    page('Security', '/security'),
    page('Finance handbook', '/finance'),
    page('Vendors', '/models'),
    page('Adding an upstream', '/adding-an-upstream'),
  ]),
  group('Reference', [
    page('API', '/api/'),
    page('Architecture', '/architecture'),
    page('Decisions', '/decisions/'),
    page('Performance', '/performance'),
    page('Scale', '/scale'),
    page('Reliability', '/reliability'),
    page('Changelog', '/changelog'),
  ]),
];

/**
 * The sidebar of both APIs.
 * @param {{ name: string, title: string }[]} pages such as `gateway-images`
 */
export function apiSidebar(pages) {
  const of = (api) =>
    pages
      .filter(({ name }) => name.startsWith(`${api}-`))
      .map(({ name, title }) => page(title, `/api/${name}`));
  return [
    page('Overview', '/api/'),
    group('Gateway', of('gateway')),
    group('Control plane', of('control-plane')),
    page('Back to the guides', '/getting-started'),
  ];
}

/** @param {{ name: string, title: string }[]} pages such as `0001-postgresql-is-the-ledger` */
export function decisionSidebar(pages) {
  const decisions = pages.filter(({ name }) => name !== 'index');
  return [
    page('Decisions', '/decisions/'),
    group(
      'All decisions',
      decisions.map(({ name, title }) => page(title, `/decisions/${name}`)),
    ),
    page('Back to the guides', '/getting-started'),
  ];
}
