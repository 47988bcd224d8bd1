import { Anchor, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../../ui/links.js';

/** Documents are beside the pages of the console. */
const DOCUMENTS = [
  { name: 'docs', href: '/docs/' },
  { name: 'api', href: '/docs/api/' },
  { name: 'changelog', href: '/docs/changelog' },
] as const;
const PAGES = [
  { name: 'models', to: '/marketplace' },
  { name: 'connect', to: '/connect' },
  { name: 'status', to: '/status' },
  { name: 'retention', to: '/retention' },
] as const;

export function LandingFooter() {
  const { t } = useTranslation('landing');
  return (
    <footer className="landing-footer">
      <Group component="nav" gap="lg" aria-label={t('footer.label')}>
        {PAGES.map(({ name, to }) => (
          <TextLink key={name} to={to} size="sm" c="dimmed">
            {t(`footer.${name}`)}
          </TextLink>
        ))}
        {DOCUMENTS.map(({ name, href }) => (
          <Anchor key={name} href={href} size="sm" c="dimmed">
            {t(`footer.${name}`)}
          </Anchor>
        ))}
      </Group>
    </footer>
  );
}
