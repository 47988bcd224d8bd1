import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { Section } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { Calculator } from '../market/calculator.js';
import { offerOf } from '../market/market.js';
import { marketQuery } from '../market/market-query.js';
import { useOwnGroups } from '../market/price.js';

export function AnyCalculator() {
  const { t } = useTranslation('landing');
  const market = useQuery(marketQuery);
  return (
    <Section title={t('calculator.title')}>
      <Hint>{t('calculator.about')}</Hint>
      <Loaded query={market} lines={6}>
        {(models) => <OfModels models={models} />}
      </Loaded>
    </Section>
  );
}

function OfModels({ models }: { models: readonly Shape<'ListedModel'>[] }) {
  const { t } = useTranslation('landing');
  const groups = useOwnGroups();
  const callable = models.filter((model) => model.available && offerOf(model, groups) !== null);
  const [chosen, setChosen] = useState<string | null>(null);
  const model = callable.find(({ id }) => id === chosen) ?? callable.find(isImage) ?? callable[0];
  if (!model) return <EmptyState {...t('calculator.empty')} />;
  return (
    <Calculator key={model.id} model={model}>
      <Select
        label={t('calculator.model')}
        data={callable.map(({ id }) => id)}
        value={model.id}
        onChange={setChosen}
        allowDeselect={false}
        searchable
      />
    </Calculator>
  );
}

function isImage({ family, limits }: Shape<'ListedModel'>): boolean {
  return family === 'image' && !limits.minInputImages;
}
