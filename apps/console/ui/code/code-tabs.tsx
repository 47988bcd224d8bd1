import { Tabs } from '@mantine/core';
import type { Code } from './code.js';
import { CodeLines } from '../copy.js';

/** Code to copy, a tab for each language or client. */
export function CodeTabs({ label, codes }: { label: string; codes: readonly Code[] }) {
  return (
    // The open tab may be gone when the samples change.
    <Tabs key={codes.map(({ id }) => id).join(' ')} defaultValue={codes[0]?.id ?? null} keepMounted={false}>
      <Tabs.List aria-label={label}>
        {codes.map(({ id, name }) => (
          <Tabs.Tab key={id} value={id}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {codes.map(({ id, name, code }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          <CodeLines code={code} label={name} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
