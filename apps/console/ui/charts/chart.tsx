import { Skeleton, Table, VisuallyHidden } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { ChartProps } from './chart-props.js';

/** Charts weigh more than all pages together, so they come when one is drawn. */
const Drawing = lazy(() => import('./chart-drawing.js'));

/** A chart of values over time or of other categories. Use it for all charts; numbers are for drawing, labels are exact. */
export function Chart(props: ChartProps): ReactNode {
  const { height = 260, label, points, series, text } = props;
  return (
    <figure className="chart" aria-label={label}>
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={height} />}>
          <Drawing {...props} height={height} />
        </Suspense>
      </div>
      <VisuallyHidden>
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th />
              {series.map(({ name, label: heading }) => (
                <Table.Th key={name}>{heading}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {points.map(({ at, values }, index) => (
              <Table.Tr key={index}>
                <Table.Th scope="row">{at}</Table.Th>
                {series.map(({ name }) => (
                  <Table.Td key={name}>{values[name] == null ? '' : text(values[name])}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </VisuallyHidden>
    </figure>
  );
}
