import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../../ui/links.js';
import { usePaidFor } from '../../ui/money.js';
import { Section } from '../../ui/page.js';

const QUESTIONS = ['credit', 'failure', 'expiry', 'refund', 'prompts', 'limits', 'sdks', 'groups'] as const;
type Question = (typeof QUESTIONS)[number];

/** Where to read more: in the docs, or on another page. */
const MORE: { [Name in Question]?: string } = {
  credit: '/docs/billing',
  failure: '/docs/billing#when-a-call-fails',
  limits: '/docs/rate-limits',
  sdks: '/docs/clients',
  groups: '/docs/concepts#models-groups-and-channels',
};

export function Questions() {
  const { t } = useTranslation('landing');
  const price = usePaidFor()('1') ?? '…';
  return (
    <Section title={t('questions.title')}>
      <div className="questions">
        {QUESTIONS.map((name) => (
          <details key={name} className="question">
            <summary>{t(`questions.${name}.ask`)}</summary>
            <Text size="sm">
              {t(`questions.${name}.answer`, { price })} <More name={name} />
            </Text>
          </details>
        ))}
      </div>
    </Section>
  );
}

function More({ name }: { name: Question }) {
  const { t } = useTranslation('landing');
  if (name === 'prompts')
    return (
      <TextLink to="/retention" size="sm">
        {t('questions.retention')}
      </TextLink>
    );
  const href = MORE[name];
  return (
    href !== undefined && (
      <a href={href} aria-label={t('questions.moreOf', { question: t(`questions.${name}.ask`) })}>
        {t('questions.more')}
      </a>
    )
  );
}
