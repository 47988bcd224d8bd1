import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../apps/console/pages');

/** A page from the console's own table, with a made-up ID for each parameter. */
export interface RoutedPage {
  path: string;
  hasId: boolean;
}

/** Every page in the router's table, read from its source text: first the areas, each with its own name. */
export function routedPages(): RoutedPage[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.pages.ts'));
  return files.flatMap((file) => pagesOf(readFileSync(join(folder, file), 'utf8')));
}

function pagesOf(text: string): RoutedPage[] {
  const areas = new Map<string, string>([['rootRoute', '']]);
  const pages: RoutedPage[] = [];
  const routes = /(?:const (\w+) = )?createRoute\(\{(.*?)\n {0,2}\}\)|(page\(.*?\))/gs;
  for (const [, name, route, page] of text.matchAll(routes)) {
    const body = route ?? page!;
    const parent = /(?:getParentRoute: \(\) => |below\()(\w+)/.exec(body)?.[1] ?? '';
    const path = (areas.get(parent) ?? '') + (/(?:path: |below\(\w+, )'([^']*)'/.exec(body)?.[1] ?? '');
    if (name) areas.set(name, path);
    if (page || body.includes('component:')) pages.push(made(path));
  }
  return pages;
}

function made(path: string): RoutedPage {
  return { path: path.replace(/\$\w+/g, '0'.repeat(26)), hasId: path.includes('$') };
}
