import { Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface ToolbarProps {
  /** At the other end, such as a CSV link. */
  aside?: ReactNode;
  children: ReactNode;
}

/** The filters above a list. */
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
