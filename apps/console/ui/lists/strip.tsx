import { Card, SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';

/** A compact list; its items have the class `strip-line`. */
export function Strip({ children }: { children: ReactNode }) {
  return (
    <Card withBorder padding="sm">
      <SimpleGrid
        cols={{ base: 1, md: 2 }}
        spacing="xl"
        verticalSpacing="tiny"
        component="ul"
        className="plain-list"
      >
        {children}
      </SimpleGrid>
    </Card>
  );
}
