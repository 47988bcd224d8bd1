import { Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconArrowBackUp, IconCoin, IconReceipt2, IconUsersPlus } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../ui/links.js';
import { usePaidFor } from '../ui/money.js';
import { PageFrame } from '../ui/page.js';
import { WhenNear } from './landing/when-near.js';
import lighthouse from './landing/lighthouse.avif';

const facts = {
  prepaid: IconCoin,
  explained: IconReceipt2,
  givenBack: IconArrowBackUp,
  invites: IconUsersPlus,
} as const;

/** Loaded separately, so that the head of the page does not wait for them. */
const ExampleReceipt = lazy(async () => ({
  default: (await import('./landing/example-receipts.js')).ExampleReceipt,
}));
const ModelWall = lazy(async () => ({ default: (await import('./landing/model-wall.js')).ModelWall }));
const LandingSections = lazy(async () => ({
  default: (await import('./landing/landing-sections.js')).LandingSections,
}));

export default function LandingPage() {
  const { t } = useTranslation('visitor');
  return (
    <PageFrame
      title={t('landing.title')}
      about={t('landing.about')}
      actions={<Beginning />}
      picture={<Example />}
      width={72}
    >
      <div className="landing-sections">
        <Suspense fallback={<Skeleton height={400} />}>
          <ModelWall />
        </Suspense>
        <WhenNear name={t('landing.below')}>
          <LandingSections />
        </WhenNear>
      </div>
    </PageFrame>
  );
}

function Example() {
  const { t } = useTranslation('visitor');
  return (
    <figure className="hero-picture">
      <img src={lighthouse} width={960} height={640} decoding="sync" alt={t('landing.picture')} />
      <figcaption>
        <Suspense fallback={<Skeleton height={200} />}>
          <ExampleReceipt />
        </Suspense>
      </figcaption>
    </figure>
  );
}

function Beginning() {
  const { t } = useTranslation('visitor');
  return (
    <Stack gap="xl">
      <Group>
        <ButtonLink to="/sign-up">{t('landing.signUp')}</ButtonLink>
        <ButtonLink to="/marketplace" variant="default">
          {t('landing.prices')}
        </ButtonLink>
      </Group>
      <Facts />
    </Stack>
  );
}

function Facts() {
  const { t } = useTranslation('visitor');
  const price = usePaidFor()('1') ?? '…';
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg">
      {Object.entries(facts).map(([name, Icon]) => {
        const fact = name as keyof typeof facts;
        return (
          <Group key={fact} component="section" gap="sm" wrap="nowrap" align="flex-start">
            <Icon size={24} className="no-shrink fact-icon" aria-hidden />
            <Stack gap="tiny">
              <Title order={2} size="h4">
                {t(`landing.facts.${fact}.title`)}
              </Title>
              <Text size="sm">{t(`landing.facts.${fact}.text`, { price })}</Text>
            </Stack>
          </Group>
        );
      })}
    </SimpleGrid>
  );
}
