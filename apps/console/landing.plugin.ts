import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Of texts, with the tag of each for the `lang` attribute. */
const LANGUAGES = { en: 'en', zh: 'zh-Hans' } as const;
const AFTER_PAINT = 'after-paint';
const PICTURE = 'lighthouse.avif';

const ROOT = '<div id="root">';
const STYLES = /\s*<link rel="stylesheet"[^>]*>/g;
const SCRIPT = /<script type="module"([^>]*) src="([^"]+)"([^>]*)><\/script>/;

interface Texts {
  landing: { title: string; about: string };
}

/**
 * Beside the one document of all pages, one for those who arrive at the landing page, in each language: it has the head of the
 * page in it, which is drawn before anything else is loaded, and `after-paint.ts` in place of the scripts, which it loads then.
 */
export function landingDocuments(): Plugin {
  return {
    name: 'tollgate-landing-documents',
    apply: 'build',
    writeBundle({ dir }, bundle) {
      const parts = Object.values(bundle);
      const script = parts.find((part) => part.type === 'chunk' && part.name === AFTER_PAINT);
      const picture = parts.find((part) => part.type === 'asset' && part.names.includes(PICTURE));
      if (!dir || !script || !picture)
        throw new Error('The landing page was built without its entry script, or without its image.');
      const document = readFileSync(join(dir, 'index.html'), 'utf8');
      for (const [language, tag] of Object.entries(LANGUAGES))
        writeFileSync(
          join(dir, `landing.${language}.html`),
          withHead(startedBy(document, script.fileName), headIn(language, tag, picture.fileName)).replace(
            '<html lang="en">',
            `<html lang="${tag}">`,
          ),
        );
    },
  };
}

/** The scripts are only named, so that they do not compete with what is drawn first. */
function startedBy(document: string, script: string): string {
  const named = document
    .replaceAll('<link rel="modulepreload"', '<link data-after-paint="part"')
    .replace(SCRIPT, '<link data-after-paint="page"$1 href="$2"$3>');
  return named.replace('</body>', `<script type="module" src="/${script}"></script>\n  </body>`);
}

/** What comes before a stylesheet is drawn without waiting for it. */
function withHead(document: string, head: string): string {
  const styles = document.match(STYLES) ?? [];
  return document.replace(STYLES, '').replace(ROOT, [head, ...styles, `\n    ${ROOT}`].join(''));
}

/** Screen readers wait for the page, which takes this away. */
function headIn(language: string, tag: string, picture: string): string {
  const file = join(import.meta.dirname, 'i18n', language, 'visitor.json');
  const { title, about } = (JSON.parse(readFileSync(file, 'utf8')) as Texts).landing;
  const lines = `<h1 class="hero-title">${escaped(title)}</h1><p class="hero-about">${escaped(about)}</p>`;
  const image = `<img src="/${picture}" width="960" height="640" alt="">`;
  const hero = `<div>${lines}<div class="hero-actions"></div></div><div class="hero-picture">${image}</div>`;
  return `<div id="first-paint" class="first-paint" lang="${tag}" aria-hidden="true"><div class="hero">${hero}</div></div>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
