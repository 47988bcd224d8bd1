import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { column } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { Section } from '../../ui/page.js';
import { Covers } from './covers.js';

/** The times covered by reports, and the gaps. Anything that happened in a gap counts as a fault. */
export function ReportCoverage() {
  const { t } = useTranslation('reconciliation');
  const coverage = useRead('/api/finance/provider-reports/coverage');
  const columns: ListColumn<Shape<'ReportCoverage'>>[] = [
    column('provider', t('provider'), ({ provider, bankAccountId }) =>
      [t(`providers.${provider}`), bankAccountId].filter(Boolean).join(' · '),
    ),
    column('of', t('coverage.of'), ({ of }) => t(`coverage.ofs.${of}`)),
    column('covered', t('coverage.covered'), ({ covered }) => <Times times={covered} />),
    column('gaps', t('coverage.gaps'), ({ gaps }) =>
      gaps.length === 0 ? t('coverage.noGaps') : <Times times={gaps} />,
    ),
  ];
  return (
    <Section title={t('coverage.title')}>
      <DataList
        label={t('coverage.title')}
        query={coverage}
        columns={columns}
        rowKey={({ provider, bankAccountId, of }) => `${provider} ${bankAccountId ?? ''} ${of}`}
        empty={{ title: t('coverage.empty'), hint: t('coverage.emptyHint') }}
      />
    </Section>
  );
}

function Times({ times }: { times: readonly { from: string | null; to: string }[] }) {
  return (
    <Stack gap={0}>
      {times.map((each) => (
        <Text key={each.to} size="sm" component="div">
          <Covers covers={each} />
        </Text>
      ))}
    </Stack>
  );
}
