import { ColorSwatch, Group, Skeleton, Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { ChartProps, ChartSeries } from './chart-props.js';

/** Charts weigh more than all pages together, so they come when one is drawn. */
const Drawing = lazy(() => import('./chart-drawing.js'));

/** A chart of values over time or of other categories. Use it for all charts; numbers are for drawing, labels are exact. */
export function Chart(props: ChartProps): ReactNode {
  const { height = 260, label, series } = props;
  return (
    <figure className="chart" aria-label={label}>
      {series.length > 1 && <Legend {...props} />}
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={height} />}>
          <Drawing {...props} height={height} />
        </Suspense>
      </div>
      <VisuallyHidden>
        <Values {...props} />
      </VisuallyHidden>
    </figure>
  );
}

/** Which colour is what. Where an entry does something it is a button, for keyboards too. */
function Legend({ series, seriesAction }: ChartProps) {
  return (
    <Group component="ul" className="plain-list chart-legend" gap="xs" mb="xs">
      {series.map((each) => {
        const act = seriesAction?.(each.name);
        return (
          <li key={each.name}>
            {act ? (
              <UnstyledButton onClick={act} className="chart-choice">
                <Entry series={each} />
              </UnstyledButton>
            ) : (
              <Entry series={each} />
            )}
          </li>
        );
      })}
    </Group>
  );
}

function Entry({ series: { color, label } }: { series: ChartSeries }) {
  const [name, shade] = color.split('.');
  return (
    <Group component="span" gap="var(--space-row)" wrap="nowrap">
      <ColorSwatch
        component="span"
        size={10}
        color={`var(--mantine-color-${name}-${shade})`}
        withShadow={false}
      />
      <span className="model-name">{label}</span>
    </Group>
  );
}

/** The same in words, for those who do not see the drawing. */
function Values({ label, points, series, text }: ChartProps) {
  return (
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
  );
}
