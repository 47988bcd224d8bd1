import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Answer } from '../api/queries.js';

export type System = Answer<'/api/admin/programs'>;
export type Program = System['items'][number];

export function rate(perSecond: number, locale: string): string {
  return `${perSecond.toLocaleString(locale, { maximumFractionDigits: 1 })}\u00a0/s`;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed" component="dt">
        {name}
      </Text>
      <Text fw={600} component="dd">
        {children}
      </Text>
    </div>
  );
}
