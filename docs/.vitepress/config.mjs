import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { addDiagrams } from './diagrams.mjs';
import { apiSidebar, decisionSidebar, sections } from './navigation.mjs';

/** Where the control plane serves the site. */
const BASE = '/docs/';

export default defineConfig({
  base: BASE,
  title: 'Tollgate',
  titleTemplate: ':title · Tollgate docs',
  description: 'A relay for image and video models with prepaid billing that can be proved',
  lang: 'en',
  cleanUrls: true,
  lastUpdated: false,
  // Else switching the colours adds a style element, which the policy refuses.
  appearance: { disableTransition: false },
  // Inline scripts are the same on every page then, and the policy names their hashes.
  metaChunk: true,
  head: [['link', { rel: 'icon', href: `${BASE}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    config: addDiagrams,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // The index of the search is one file, which a page loads when somebody searches.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    logo: { src: '/icon.svg', alt: '' },
    siteTitle: 'Tollgate docs',
    nav: [
      { text: 'Quick start', link: '/getting-started' },
      { text: 'API', link: '/api/', activeMatch: '/api/' },
    ],
    sidebar: {
      '/api/': apiSidebar(pagesOf('api')),
      '/decisions/': decisionSidebar(pagesOf('decisions')),
      '/': sections,
    },
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});

/** The pages of a folder, with their titles. */
function pagesOf(name) {
  const folder = new URL(`../${name}/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({
      name: file.slice(0, -'.md'.length),
      title: readFileSync(new URL(file, folder), 'utf8').split('\n', 1)[0].slice('# '.length),
    }));
}
