import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconArrowBackUp, IconCoin, IconReceipt2, IconUsersPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { usePaidFor } from '../ui/money.js';
import { PageFrame } from '../ui/page.js';
import { Section } from '../ui/states.js';
import { Connect } from './connect.js';
import { ButtonLink } from '../ui/links.js';

const facts = {
  prepaid: IconCoin,
  explained: IconReceipt2,
  givenBack: IconArrowBackUp,
  invites: IconUsersPlus,
} as const;

/** What the relay is, where calls go, and what it costs to try. */
export function LandingPage() {
  const { t } = useTranslation('visitor');
  return (
    <PageFrame title={t('landing.title')} about={t('landing.about')} isHero width={64}>
      <Group>
        <ButtonLink to="/sign-up">{t('landing.signUp')}</ButtonLink>
        <ButtonLink to="/marketplace" variant="default">
          {t('landing.prices')}
        </ButtonLink>
      </Group>
      <Facts />
      <Section title={t('connect.title')}>
        <Connect />
      </Section>
    </PageFrame>
  );
}

function Facts() {
  const { t } = useTranslation('visitor');
  const price = usePaidFor()('1') ?? '…';
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {Object.entries(facts).map(([name, Icon]) => {
        const fact = name as keyof typeof facts;
        return (
          <Card key={fact} withBorder component="section">
            <Group wrap="nowrap" align="flex-start">
              <Icon size={24} className="no-shrink" aria-hidden />
              <Stack gap="tiny">
                <Title order={2} size="h4">
                  {t(`landing.facts.${fact}.title`)}
                </Title>
                <Text size="sm">{t(`landing.facts.${fact}.text`, { price })}</Text>
              </Stack>
            </Group>
          </Card>
        );
      })}
    </SimpleGrid>
  );
}
