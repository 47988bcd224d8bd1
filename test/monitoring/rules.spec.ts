import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Command, Option } from 'commander';
import { parse } from 'yaml';
import { program } from '#apps/cli/program.js';
import { settingNames } from '#platform/settings/settings.js';
import { promtool } from './support/prometheus.js';
import { alerts, dashboards, filesOf, monitoring, type Panel, root } from './support/watched.js';

const QUESTIONS = ['money', 'customers', 'speed', 'capacity'];
const tests = filesOf('prometheus/tests', '.test.yml');
const runbooks = readFileSync(join(root, 'docs/runbooks.md'), 'utf8');

interface RuleTest {
  promql_expr_test?: { exp_samples: { labels: string }[] }[];
  alert_rule_test?: { alertname: string; exp_alerts: object[] }[];
}

describe('the rules', () => {
  it('are valid, and so is the configuration that loads them', () => {
    expect(promtool('check', 'rules', ...filesOf('prometheus/rules', '.yml'))).not.toMatch(/duplicate/i);
    promtool('check', 'config', join(monitoring, 'prometheus/prometheus.yml'));
  });

  it.each(tests.map((file) => basename(file)))('fire when they should, and only then: %s', (name) => {
    expect(promtool('test', 'rules', join(monitoring, 'prometheus/tests', name))).toContain('SUCCESS');
  });

  it('are each tested silent and firing by one test on the same series', () => {
    const cases = tests.flatMap((file) => (parse(readFileSync(file, 'utf8')) as { tests: RuleTest[] }).tests);
    const momentsOf = (
      alert: string,
      { promql_expr_test: asked = [], alert_rule_test: asserted = [] }: RuleTest,
    ) => [
      ...asked.map(({ exp_samples: listed }) =>
        listed.some(({ labels }) => labels.includes(`alertname="${alert}"`)),
      ),
      ...asserted
        .filter(({ alertname }) => alertname === alert)
        .map(({ exp_alerts: listed }) => listed.length > 0),
    ];
    const isTested = (alert: string) => cases.some((each) => new Set(momentsOf(alert, each)).size === 2);
    expect(alerts.map(({ alert }) => alert).filter((alert) => !isTested(alert))).toEqual([]);
  });

  it('name their recipient, the question they answer, and their runbook', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect([alert, labels?.['severity']]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
      expect(QUESTIONS).toContain(labels?.['question']);
      expect(annotations?.['summary']).toMatch(/\.$/);
      const url = `{{ $externalLabels.console }}/docs/runbooks#${alert.toLowerCase()}`;
      expect(annotations?.['runbook_url']).toBe(url);
    }
  });
});

describe('the runbooks', () => {
  const sections = runbooks.split(/^### /m).slice(1);

  it('match the alerts one to one', () => {
    const titles = sections.map((text) => text.split('\n', 1)[0]!);
    expect([...titles].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });

  it('say when the alert is resolved', () => {
    const endless = sections.filter((text) => !/^(Resolved when|Resolves by itself) /m.test(text));
    expect(endless.map((text) => text.split('\n', 1)[0])).toEqual([]);
  });

  it('name existing commands and options', () => {
    const commands = [...runbooks.matchAll(/`tollgate ([^`…]+)`/g)].map(([, words]) =>
      words!.replace(/\s+/g, ' '),
    );
    expect(commands.length).toBeGreaterThan(20);
    expect([...new Set(commands)].filter((command) => !isCommand(command))).toEqual([]);
  });

  it('name existing settings', () => {
    const named = [...runbooks.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !settingNames.some((known) => known === name))).toEqual([]);
  });
});

/** Whether the command line has a command with these options and arguments, and no required one is missing. */
function isCommand(line: string): boolean {
  const words = line.split(' ');
  const end = words.findIndex((word) => /^(--|<)/.test(word));
  const path = words.slice(0, end < 0 ? undefined : end);
  const command = path.reduce<Command | undefined>(
    (parent, name) => parent?.commands.find((each) => each.name() === name),
    program(),
  );
  return command !== undefined && command.commands.length === 0 && takes(command, words.slice(path.length));
}

function takes({ options, registeredArguments }: Command, words: string[]): boolean {
  const given: (Option | undefined)[] = [];
  let positionals = 0;
  for (let at = 0; at < words.length; at += 1) {
    if (words[at]!.startsWith('--')) {
      const option = options.find(({ long }) => long === words[at]);
      given.push(option);
      if (option?.required) at += 1;
    } else positionals += 1;
  }
  const needed = registeredArguments.filter(({ required }) => required).length;
  const missing = options.filter((option) => option.mandatory && !given.includes(option));
  const isTooMuch = positionals > registeredArguments.length;
  return !given.includes(undefined) && missing.length === 0 && positionals >= needed && !isTooMuch;
}

describe('the dashboards', () => {
  it('match the questions one to one', () => {
    expect(dashboards.map(({ uid }) => uid).sort()).toEqual(
      QUESTIONS.map((name) => `tollgate-${name}`).sort(),
    );
  });

  it.each(dashboards.map(({ title, panels }) => ({ title, panels })))(
    'have panels side by side, each with its own id: $title',
    ({ panels }) => {
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      expect(panels.length).toBeLessThanOrEqual(12);
      const overlaps = panels.filter((one) => panels.some((other) => other.id > one.id && meet(one, other)));
      expect(overlaps.map(({ title }) => title)).toEqual([]);
      for (const { gridPos, targets } of panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
        expect(targets.length).toBeGreaterThan(0);
      }
    },
  );
});

function meet({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
