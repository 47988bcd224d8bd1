import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Choice } from '../../ui/lists/choice.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { timesOf } from '../utc-days.js';
import { reportProviders } from '../../api/enumerations.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

const route = getRouteApi('/finance/reconciliation');

interface FiltersProps {
  states: readonly { value: string; label: string }[];
  withProvider?: boolean;
  aside: ReactNode;
}

/** What a part of the page is narrowed by. */
export function Filters({ states, withProvider = false, aside }: FiltersProps) {
  const { t } = useTranslation('reconciliation');
  return (
    <Toolbar aside={aside}>
      <DaysFilter />
      <Choice label={t('state')} options={states} param="state" />
      {withProvider && (
        <Choice
          label={t('provider')}
          options={reportProviders.map((value) => ({ value, label: t(`providers.${value}`) }))}
          param="provider"
        />
      )}
    </Toolbar>
  );
}

/** What the address says, as the routes of reconciliation take it; the state may be one of another part of the page. */
export function useNarrowed<State extends string>(states: readonly State[]) {
  const { provider, from, to, ...search } = route.useSearch();
  const state = states.find((each) => each === search.state);
  return { ...timesOf({ from, to }), ...(provider ? { provider } : {}), ...(state ? { state } : {}) };
}
