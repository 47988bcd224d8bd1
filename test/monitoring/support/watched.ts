import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const root = join(import.meta.dirname, '../../..');
export const monitoring = join(root, 'monitoring');

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
}

/** Paths of the files with this ending in a folder of monitoring/. */
export function filesOf(folder: string, ending: string): string[] {
  return readdirSync(join(monitoring, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(monitoring, folder, name));
}

export const rules: readonly Rule[] = filesOf('prometheus/rules', '.yml').flatMap((file) =>
  (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
    (group) => group.rules,
  ),
);

export const alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);

export const dashboards: readonly Dashboard[] = filesOf('grafana', '.json').map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as Dashboard,
);

/** Values for Grafana's variables. */
export const panelQueries = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel) =>
    panel.targets.map(({ expr }) => ({
      of: `${title} ${panel.title}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    })),
  ),
);

const KEYWORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'offset', 'bool']);

/** The metric names in a PromQL query. */
export function metricsOf(expr: string): string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  const names = [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?!\s*\(|[\w:])/g)].map(([name]) => name);
  return [...new Set(names)].filter((name) => !KEYWORDS.has(name));
}

/** The metrics in those tables of docs/operating.md whose first column has this heading. */
export function documentedMetrics(): string[] {
  const text = readFileSync(join(root, 'docs/operating.md'), 'utf8');
  const [, table = ''] = /^\| metric +\|.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const firstColumn = [...table.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell]) => cell!);
  return firstColumn.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)[^`]*`/g)].map(([, name]) => name!));
}
