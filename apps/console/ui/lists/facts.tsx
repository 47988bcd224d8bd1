import { Card, SimpleGrid, type SimpleGridProps, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Facts about one thing, one per line. */
export function Facts({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Table variant="vertical" layout="auto" withRowBorders={false} className="fact-list" aria-label={label}>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

/** One line; left out if it has no value. */
export function Fact({ name, value }: { name: string; value: ReactNode }) {
  if (value === null || value === undefined) return null;
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {name}
      </Table.Th>
      <Table.Td className="model-name">{value}</Table.Td>
    </Table.Tr>
  );
}

export function Figures({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid
      cols={{ base: 2, md: 4 }}
      spacing={{ base: 'xs', xs: 'md' }}
      component="dl"
      className="facts figures"
    >
      {children}
    </SimpleGrid>
  );
}

export function Figure({ name, value, hint }: { name: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed" component="dt">
        {name}
      </Text>
      <Text size="xl" fw={600} component="dd">
        {value}
      </Text>
      {hint !== undefined && (
        <Text size="xs" c="dimmed" component="dd">
          {hint}
        </Text>
      )}
    </Card>
  );
}

interface FactGridProps {
  cols: SimpleGridProps['cols'];
  /** Facts without a value are left out. */
  facts: readonly { name: string; value: ReactNode }[];
  size?: 'sm' | 'md';
}

/** Facts side by side, each below its name. */
export function FactGrid({ cols, facts, size = 'md' }: FactGridProps) {
  const known = facts.filter(({ value }) => value !== null && value !== undefined);
  return (
    <SimpleGrid
      cols={cols}
      component="dl"
      className="facts"
      {...(size === 'sm' ? { verticalSpacing: 'xs' } : {})}
    >
      {known.map(({ name, value }) => (
        <div key={name}>
          <Text size="sm" c="dimmed" component="dt">
            {name}
          </Text>
          <Text size={size} fw={size === 'sm' ? 400 : 600} component="dd" className="model-name">
            {value}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  );
}
