import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useChosenInView } from '../chosen-in-view.js';
import { PageFrame } from '../page.js';

interface Part {
  name: string;
  label: string;
  content: () => ReactNode;
}

interface PartTabsProps {
  label: string;
  /** The first is the default. */
  parts: readonly [Part, ...Part[]];
}

/** Tabs of a page. The address says which is open; the others are not rendered. */
export function PartTabs({ label, parts }: PartTabsProps) {
  const { tab } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [first] = parts;
  const open = parts.find(({ name }) => name === tab) ?? first;
  const row = useChosenInView<HTMLDivElement>(open.name);
  const choose = (name: string | null) => {
    const search: object = name === first.name ? {} : { tab: name };
    void navigate({ to: '.', search: { ...search } });
  };
  return (
    <Tabs value={open.name} onChange={choose} keepMounted={false}>
      <Tabs.List ref={row} aria-label={label}>
        {parts.map(({ name, label: words }) => (
          <Tabs.Tab key={name} value={name}>
            {words}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={open.name} pt="lg">
        {open.content()}
      </Tabs.Panel>
    </Tabs>
  );
}

interface PartPageProps extends PartTabsProps {
  title: string;
  about: string;
  actions?: ReactNode;
}

/** A page that has only tabs. */
export function PartPage({ title, about, actions, ...tabs }: PartPageProps) {
  return (
    <PageFrame title={title} about={about} actions={actions}>
      <PartTabs {...tabs} />
    </PageFrame>
  );
}
