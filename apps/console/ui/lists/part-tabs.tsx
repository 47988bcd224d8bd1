import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useChosenInView } from '../chosen-in-view.js';
import { PageFrame, Titled } from '../page.js';

interface PartTabsProps<Name extends string> {
  label: string;
  names: Record<NoInfer<Name>, string>;
  /** The first is the default; those that are false are left out. */
  parts: Record<Name, ReactNode>;
}

/** Tabs of a page. The address says which is open; the others are not rendered. */
export function PartTabs<Name extends string>({ label, names, parts }: PartTabsProps<Name>) {
  const { tab } = useSearch({ strict: false });
  const navigate = useNavigate();
  const shown = (Object.keys(parts) as Name[]).filter((name) => parts[name] !== false);
  const open = shown.find((name) => name === tab) ?? shown[0]!;
  const row = useChosenInView<HTMLDivElement>(open);
  const choose = (name: string | null) => {
    const search: object = name === shown[0] ? {} : { tab: name };
    void navigate({ to: '.', search: { ...search } });
  };
  return (
    <Tabs value={open} onChange={choose} keepMounted={false}>
      <Tabs.List ref={row} aria-label={label}>
        {shown.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {names[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={open} pt="lg">
        <Titled value={names[open]}>{parts[open]}</Titled>
      </Tabs.Panel>
    </Tabs>
  );
}

interface PartPageProps<Name extends string> extends Pick<PartTabsProps<Name>, 'parts'> {
  texts: { title: string; about: string; tabs: PartTabsProps<Name>['names'] };
  actions?: ReactNode;
}

/** A page that has only tabs. */
export function PartPage<Name extends string>({ texts, actions, parts }: PartPageProps<Name>) {
  const { title, about, tabs } = texts;
  return (
    <PageFrame title={title} about={about} actions={actions}>
      <PartTabs label={title} names={tabs} parts={parts} />
    </PageFrame>
  );
}
