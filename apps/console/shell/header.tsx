import { ActionIcon, Group, Menu, Text, useMantineColorScheme } from '@mantine/core';
import {
  IconCheck,
  IconDeviceDesktop,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { languageNames, languages, languageTags, setLanguage } from '../i18n/i18n.js';
import { tellFailure } from './notices.js';
import { leave, type Session } from './session.js';
import { ButtonLink, TextLink } from '../ui/links.js';

export function Logo() {
  return (
    <TextLink to="/" c="inherit" fw={700} underline="never" className="logo">
      <img src="/icon.svg" alt="" width={24} height={24} />
      <span>Tollgate</span>
    </TextLink>
  );
}

/** For those who are not signed in. On narrow screens the marketplace is on the first page. */
export function VisitorLinks() {
  const { t } = useTranslation('shell');
  return (
    <Group gap="xs" wrap="nowrap" component="nav" aria-label={t('nav.pages')}>
      <ButtonLink to="/marketplace" variant="subtle" size="compact-sm" visibleFrom="sm">
        {t('nav.marketplace')}
      </ButtonLink>
      <ButtonLink to="/sign-in" variant="subtle" size="compact-sm">
        {t('nav.signIn')}
      </ButtonLink>
      <ButtonLink to="/sign-up" size="compact-sm" visibleFrom="xs">
        {t('nav.signUp')}
      </ButtonLink>
    </Group>
  );
}

export function LanguageMenu() {
  const { t, i18n } = useTranslation('shell');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('language')}>
          <IconLanguage size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {languages.map((language) => (
          <Menu.Item
            key={language}
            role="menuitemradio"
            aria-checked={i18n.language === language}
            lang={languageTags[language]}
            rightSection={i18n.language === language && <IconCheck size={14} aria-hidden />}
            onClick={() => void setLanguage(language)}
          >
            {languageNames[language]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon } as const;

export function ThemeMenu() {
  const { t } = useTranslation('shell');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Current = schemes[colorScheme];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('theme.choose')}>
          <Current size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(schemes).map(([name, Icon]) => {
          const scheme = name as keyof typeof schemes;
          return (
            <Menu.Item
              key={scheme}
              role="menuitemradio"
              aria-checked={colorScheme === scheme}
              leftSection={<Icon size={16} aria-hidden />}
              rightSection={colorScheme === scheme && <IconCheck size={14} aria-hidden />}
              onClick={() => setColorScheme(scheme)}
            >
              {t(`theme.${scheme}`)}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

export function AccountMenu({ session }: { session: Session }) {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => api.POST('/api/sign-out'),
    onSuccess: async () => {
      await navigate({ to: '/sign-in' });
      leave();
    },
    onError: tellFailure,
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('account')}>
          <IconUserCircle size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="xs" c="dimmed" maw="16rem" truncate>
            {session.email}
          </Text>
        </Menu.Label>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
