import { Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useFilter } from '../address.js';

/** A filter set by a link or row menu, with a button that clears it. */
export function Narrowed({ label, clear, children }: { label: string; clear: object; children: ReactNode }) {
  const set = useFilter({ replace: false });
  return (
    <Button variant="light" rightSection={<IconX size={14} aria-hidden />} onClick={() => set(clear)}>
      <span className="visually-hidden">{label}: </span>
      {children}
    </Button>
  );
}
