import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { timesOf } from '../utc-days.js';
import { reportProviders } from '../../api/enumerations.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import type { matchTones } from './reconciliation.js';

interface FiltersProps {
  of: 'payments' | 'payouts' | 'bank';
  states: readonly (keyof typeof matchTones)[];
  filter: Record<string, unknown>;
}

/** Filters of one tab, and its CSV file. */
export function Filters({ of, states, filter }: FiltersProps) {
  const { t } = useTranslation('reconciliation');
  return (
    <Toolbar aside={<CsvLink path={`/api/finance/reconciliation/${of}.csv`} query={filter} />}>
      <DaysFilter />
      <Choice label={t('state')} options={optionsOf(states, t('states'))} param="state" />
      {of !== 'bank' && (
        <Choice label={t('provider')} options={optionsOf(reportProviders, t('providers'))} param="provider" />
      )}
    </Toolbar>
  );
}

export function ImportLink() {
  const { t } = useTranslation('reconciliation');
  return (
    <ButtonLink to="/finance/reconciliation" search={{ tab: 'imports' }} variant="default">
      {t('payments.import')}
    </ButtonLink>
  );
}

/** The next step of a row that no report covers yet. */
export function ImportNext() {
  const { t } = useTranslation('reconciliation');
  return (
    <TextLink to="/finance/reconciliation" search={{ tab: 'imports' }} size="sm">
      {t('payments.import')}
    </TextLink>
  );
}

/** The filters in the address. A state that belongs to another tab is ignored. */
export function useNarrowed<State extends string>(states: readonly State[]) {
  const { provider, from, to, ...search } = useSearch({ from: '/finance/reconciliation' });
  const state = states.find((each) => each === search.state);
  return { ...timesOf({ from, to }), provider, state };
}
