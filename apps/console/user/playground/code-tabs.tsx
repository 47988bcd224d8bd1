import { Tabs } from '@mantine/core';
import { CodeLines } from '../../ui/copy.js';
import type { CodeLanguage } from './call.js';

const LANGUAGES: readonly { id: CodeLanguage; name: string }[] = [
  { id: 'curl', name: 'curl' },
  { id: 'python', name: 'Python' },
  { id: 'javascript', name: 'Node.js' },
];

/** A call as code, by language. */
export function CodeTabs({ label, lines }: { label: string; lines: Record<CodeLanguage, string> }) {
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List aria-label={label}>
        {LANGUAGES.map(({ id, name }) => (
          <Tabs.Tab key={id} value={id}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map(({ id, name }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          <CodeLines code={lines[id]} label={name} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
