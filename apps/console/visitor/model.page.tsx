import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiFailure } from '../api/failure.js';
import type { Shape } from '../api/client.js';
import { useSession } from '../shell/session.js';
import { CopyIcon } from '../ui/copy.js';
import { BackLink, ButtonLink } from '../ui/links.js';
import { PageFrame, Section } from '../ui/page.js';
import { ErrorState, Loaded } from '../ui/states.js';
import { Calculator } from './market/calculator.js';
import { Availability } from './market/market-cards.js';
import { marketQuery } from './market/market-query.js';
import { LimitList, ModelGroups } from './market/model-details.js';
import { ModelHistory } from './market/model-history.js';
import { ModelRecord } from './market/model-record.js';
import { ModelSamples, playKindOf } from './market/model-samples.js';
import { Headline } from './market/price.js';

const NOT_LISTED = new ApiFailure({
  status: 404,
  code: 'not_found',
  message: 'The price list has no such model.',
});

export default function ModelPage() {
  const { t } = useTranslation('models');
  const { model: id } = useParams({ from: '/visitor/marketplace/$model' });
  const market = useQuery(marketQuery);
  const model = market.data?.find((each) => each.id === id);
  return (
    <PageFrame title={id} about={model && <About model={model} />} actions={model && <TryIt model={model} />}>
      <BackLink to="/marketplace">{t('page.back')}</BackLink>
      <Loaded query={market} lines={12}>
        {() => (model ? <Parts key={id} model={model} /> : <ErrorState error={NOT_LISTED} />)}
      </Loaded>
    </PageFrame>
  );
}

interface ModelProps {
  model: Shape<'ListedModel'>;
}

function About({ model: { id, family, vendor, available } }: ModelProps) {
  const { t } = useTranslation('visitor');
  return (
    <Group component="span" gap="sm">
      {t(`market.families.${family}`)} · {vendor}
      <CopyIcon value={id} label={id} />
      <Availability available={available} />
    </Group>
  );
}

/** Visitors need an account first. */
function TryIt({ model }: ModelProps) {
  const { t } = useTranslation('models');
  const session = useSession();
  const kind = playKindOf(model);
  if (!session) return <ButtonLink to="/sign-up">{t('page.signUp')}</ButtonLink>;
  if (kind === null || session.viewing) return null;
  return (
    <ButtonLink to="/playground" search={{ kind, model: model.id }}>
      {t('page.try')}
    </ButtonLink>
  );
}

function Offer({ model }: ModelProps) {
  const { t } = useTranslation('visitor');
  return (
    <Stack gap="lg">
      <Text component="div" size="lg" fw={600}>
        <Headline model={model} />
      </Text>
      {model.aliasOf && <Text size="sm">{t('market.aliasOf', { model: model.aliasOf })}</Text>}
      <Section title={t('market.limitsTitle')}>
        <LimitList limits={model.limits} />
      </Section>
      <Section title={t('market.groupsTitle')}>
        <ModelGroups model={model} />
      </Section>
    </Stack>
  );
}

function Parts({ model }: ModelProps) {
  const { t } = useTranslation('models');
  const { t: ofMarket } = useTranslation('visitor');
  return (
    <div className="model-parts">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Offer model={model} />
        <ModelSamples model={model} />
      </SimpleGrid>
      <Section title={t('page.cost')}>
        <Calculator model={model} />
      </Section>
      <ModelRecord model={model.id} />
      <Section title={ofMarket('market.historyTitle')}>
        <ModelHistory model={model} />
      </Section>
    </div>
  );
}
