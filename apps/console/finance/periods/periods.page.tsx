import { type ButtonProps, Group } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { type Shape, useList } from '../../api/client.js';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { column, numberColumn, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { PeriodBadge, PeriodSpan } from './period-state.js';

const states = everyWord<Shape<'Period'>['state']>()('closing', 'closed', 'abandoned');

/** Closed and attempted periods, newest first. */
export default function PeriodsPage() {
  const { t } = useTranslation('periods');
  const { state } = useSearch({ from: '/finance/periods' });
  const periods = useList('/api/finance/periods', { query: { state } });
  const options = optionsOf(states, t('states'));
  return (
    <PageFrame title={t('title')} about={t('about')} actions={<CloseLink />}>
      <Group>
        <Choice label={t('state')} options={options} param="state" />
      </Group>
      <DataList
        query={periods}
        columns={useColumns()}
        empty={{ ...t('empty'), action: <CloseLink variant="default" /> }}
      />
    </PageFrame>
  );
}

function CloseLink(button: Pick<ButtonProps, 'variant'>) {
  const { t } = useTranslation('periods');
  return (
    <ButtonLink to="/finance/periods/close" {...button}>
      {t('close')}
    </ButtonLink>
  );
}

function useColumns(): ListColumn<Shape<'Period'>>[] {
  const { t } = useTranslation('periods');
  return [
    column('endsAt', t('period'), (period) => (
      <TextLink to="/finance/periods/$periodId" params={{ periodId: period.id }}>
        <PeriodSpan period={period} />
      </TextLink>
    )),
    column('state', t('state'), ({ state }) => <PeriodBadge state={state} />),
    rightColumn('waivers', t('waived'), ({ waivers }) => waivers.length),
    numberColumn('latePostings', t('lateList.list.label')),
    timeColumn('endedAt', t('endedAt')),
  ];
}
