import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useList, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { column, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { Section } from '../../ui/page.js';
import { SmallPrint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { BankAccounts } from './bank-accounts.js';
import { Covers } from './covers.js';
import { ImportFile } from './import-file.js';
import { ActionButton } from '../../ui/action-button.js';

/** An import over the provider's API continues after its request is answered. */
const LOOK_AGAIN_MS = 5_000;

/** Imports reports from files or a provider's API, and lists past imports. */
export function Imports() {
  const { t } = useTranslation('reconciliation');
  const query = { limit: 20 };
  const runs = useList('/api/finance/provider-reports', { query }, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <Stack gap="xl">
      <Section title={t('import.title')}>
        <ImportFile />
      </Section>
      <Section title={t('imports.title')} aside={<Fetch />}>
        <DataList query={runs} columns={useColumns()} empty={t('imports.empty')} />
      </Section>
      <ReportCoverage />
      <BankAccounts />
    </Stack>
  );
}

function Fetch() {
  const { t } = useTranslation('reconciliation');
  const ask = async () => {
    await api.POST('/api/finance/provider-reports/fetch');
    notify(t('imports.fetching'));
  };
  return (
    <ActionButton size="xs" act={ask}>
      {t('imports.fetch')}
    </ActionButton>
  );
}

function useColumns(): ListColumn<Shape<'ReconciliationRun'>>[] {
  const { t } = useTranslation('reconciliation');
  return [
    timeColumn('startedAt', t('imports.startedAt')),
    column('provider', t('provider'), ({ provider, bankAccountId }) =>
      [t(`providers.${provider}`), bankAccountId].filter(Boolean).join(' · '),
    ),
    column('source', t('imports.source'), ({ source }) => t(`imports.sources.${source}`)),
    column('covers', t('imports.covers'), ({ covers }) =>
      covers === null ? '–' : <Covers covers={covers} />,
    ),
    rightColumn('lines', t('imports.lines'), ({ lines, added, changed }) => (
      <Stack gap={0}>
        <span>{lines}</span>
        <SmallPrint>{t('imports.counts', { added, changed })}</SmallPrint>
      </Stack>
    )),
    column('state', t('state'), ({ finishedAt }) => (
      <StatusBadge tone={finishedAt === null ? 'busy' : 'good'}>
        {t(finishedAt === null ? 'imports.running' : 'imports.done')}
      </StatusBadge>
    )),
  ];
}

/** The times covered by reports, and the gaps. Anything that happened in a gap counts as a fault. */
function ReportCoverage() {
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
        query={coverage}
        columns={columns}
        rowKey={({ provider, bankAccountId, of }) => `${provider} ${bankAccountId ?? ''} ${of}`}
        empty={t('coverage.empty')}
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
