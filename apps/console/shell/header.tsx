import { ActionIcon, Group, Menu, Text, useMantineColorScheme } from '@mantine/core';
import {
  IconBook,
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
import type { Shape } from '../api/shape.js';
import { type Language, languageNames, languages, languageTags } from '../i18n/i18n.js';
import { useChooseLanguage } from './mail-language.js';
import { notifyFailure } from './notices.js';
import { endSession, leave } from './session.js';
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

/** The documentation is a site of its own, beside the pages of the console. */
export function DocsLink() {
  const { t } = useTranslation('shell');
  return (
    <ActionIcon component="a" href="/docs/" variant="subtle" color="gray" size="lg" aria-label={t('docs')}>
      <IconBook size={20} aria-hidden />
    </ActionIcon>
  );
}

export function LanguageMenu() {
  const { t, i18n } = useTranslation('shell');
  const choose = useChooseLanguage();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('language')}>
          <IconLanguage size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup
          value={i18n.language}
          onChange={(language) => void choose(language as Language).catch(notifyFailure)}
        >
          {languages.map((language) => (
            <Menu.RadioItem key={language} value={language} lang={languageTags[language]} closeMenuOnClick>
              {languageNames[language]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon } as const;
type Scheme = keyof typeof schemes;
const schemeNames = Object.keys(schemes) as Scheme[];

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
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as Scheme)}>
          {schemeNames.map((scheme) => {
            const Icon = schemes[scheme];
            return (
              <Menu.RadioItem
                key={scheme}
                value={scheme}
                closeMenuOnClick
                rightSection={<Icon size={16} aria-hidden />}
              >
                {t(`theme.${scheme}`)}
              </Menu.RadioItem>
            );
          })}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

export function AccountMenu({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => endSession(() => api.POST('/api/sign-out')),
    onSuccess: async () => {
      await navigate({ to: '/sign-in' });
      leave();
    },
    onError: notifyFailure,
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
