import { expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { auditActions } from '#identity/audit-actions.js';

it.each(['en', 'zh'])('has a name for each action in the audit log in %s', (language) => {
  const file = new URL(`../../apps/console/i18n/${language}/admin.json`, import.meta.url);
  const { audit } = JSON.parse(readFileSync(file, 'utf8')) as { audit: { actions: Record<string, string> } };
  expect(Object.keys(audit.actions).sort()).toEqual([...auditActions].sort());
});
