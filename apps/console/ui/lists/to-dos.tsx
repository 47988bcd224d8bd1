import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SmallPrint } from '../texts.js';

/** Open work, each with a link to where it is done. */
export function ToDos({ children }: { children: ReactNode }) {
  return <ul className="plain-list to-dos">{children}</ul>;
}

interface ToDoProps {
  count: number;
  /** What is counted. */
  what: ReactNode;
  children: ReactNode;
}

export function ToDo({ count, what, children }: ToDoProps) {
  return (
    <li>
      <Text span fw={600} className="money to-do-count">
        {count}
      </Text>
      <div>
        {children}
        <SmallPrint>{what}</SmallPrint>
      </div>
    </li>
  );
}
