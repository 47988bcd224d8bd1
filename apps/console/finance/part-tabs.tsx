import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';

interface Part<Name extends string> {
  name: Name;
  label: string;
  content: () => ReactNode;
}

interface PartTabsProps<Name extends string> {
  label: string;
  parts: readonly Part<Name>[];
  open: Name;
  choose: (name: Name) => void;
}

/** Parts of a page, of which the address says which one is open. The others are not there until they are. */
export function PartTabs<Name extends string>({ label, parts, open, choose }: PartTabsProps<Name>) {
  return (
    <Tabs value={open} onChange={(name) => choose(name as Name)} keepMounted={false}>
      <Tabs.List aria-label={label}>
        {parts.map(({ name, label: words }) => (
          <Tabs.Tab key={name} value={name}>
            {words}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(({ name, content }) => (
        <Tabs.Panel key={name} value={name} pt="lg">
          {name === open && content()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
