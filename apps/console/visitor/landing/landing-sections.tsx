import { SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Section } from '../../ui/page.js';
import { Connect } from '../connect.js';
import { AnyCalculator } from './any-calculator.js';
import { FailedReceipt } from './example-receipts.js';
import { LandingFooter } from './landing-footer.js';
import { Questions } from './questions.js';

export function LandingSections() {
  const { t } = useTranslation('landing');
  return (
    <>
      <AnyCalculator />
      <SimpleGrid component="section" cols={{ base: 1, sm: 2 }} spacing="lg">
        <Section title={t('failed.title')}>
          <Text>{t('failed.text')}</Text>
        </Section>
        <FailedReceipt />
      </SimpleGrid>
      <Section title={t('code')}>
        <Connect />
      </Section>
      <Questions />
      <LandingFooter />
    </>
  );
}
