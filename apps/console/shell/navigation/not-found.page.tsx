import { Card, Code, Group, SimpleGrid, Text } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Hint } from '../../ui/texts.js';
import { closestTo } from './closest.js';
import { placesOf } from './places.js';
import { useSession } from '../session.js';

const MOST_SUGGESTIONS = 3;

const PUBLIC = [
  { to: '/marketplace', label: 'marketplace' },
  { to: '/connect', label: 'connect' },
  { to: '/sign-in', label: 'signIn' },
  { to: '/sign-up', label: 'signUp' },
] as const;

/** Suggests the pages with the most similar paths, and a way home. */
export function NotFoundPage() {
  const { t } = useTranslation('shell');
  const session = useSession();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <PageFrame
      title={t('page.notFound.title')}
      about={
        <>
          {t('page.notFound.hint')} <Code className="model-name">{path}</Code>
        </>
      }
    >
      <Suggestions path={path} />
      <Group>
        <ButtonLink to="/">{t('page.home')}</ButtonLink>
        {session && <Hint>{t('page.notFound.search')}</Hint>}
      </Group>
    </PageFrame>
  );
}

function Suggestions({ path }: { path: string }) {
  const { t } = useTranslation('shell');
  const session = useSession();
  const found = (session ? closestTo(path, placesOf(session)) : closestTo(path, PUBLIC)).slice(
    0,
    MOST_SUGGESTIONS,
  );
  return (
    <Section title={t('page.notFound.meant')}>
      <SimpleGrid cols={{ base: 1, sm: MOST_SUGGESTIONS }} component="ul" className="plain-list">
        {found.map(({ to, label }) => (
          <Card key={to} withBorder component="li">
            <TextLink to={to}>{t(`nav.${label}`)}</TextLink>
            <Text size="sm" c="dimmed" ff="monospace">
              {to}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </Section>
  );
}
