import { Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface ToolbarProps {
  /** At the other end, such as the link to the same as a file. */
  aside?: ReactNode;
  children: ReactNode;
}

/** What a list is narrowed by, above it. */
export function Toolbar({ aside, children }: ToolbarProps) {
  return (
    <Group justify="space-between" align="flex-end">
      <Group align="flex-end" gap="sm" className="toolbar">
        {children}
      </Group>
      {aside}
    </Group>
  );
}
