import { Card, SimpleGrid, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** What is known of one thing, a line each. */
export function Facts({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Table variant="vertical" layout="auto" withRowBorders={false} aria-label={label}>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {name}
      </Table.Th>
      <Table.Td className="model-name">{children}</Table.Td>
    </Table.Tr>
  );
}

/** A few figures beside each other. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} component="dl" className="facts">
      {children}
    </SimpleGrid>
  );
}

export function Figure({ name, hint, children }: { name: string; hint?: ReactNode; children: ReactNode }) {
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed" component="dt">
        {name}
      </Text>
      <Text size="xl" fw={600} component="dd">
        {children}
      </Text>
      {hint !== undefined && (
        <Text size="xs" c="dimmed" component="dd">
          {hint}
        </Text>
      )}
    </Card>
  );
}
