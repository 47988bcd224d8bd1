import { Menu, Text, useMantineColorScheme } from '@mantine/core';
import { useMounted } from '@mantine/hooks';
import { IconLanguage, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type Shape } from '../api/client.js';
import { type Language, languageNames, languages, languageTags } from '../i18n/i18n.js';
import { HeaderButton, type HeaderButtonProps } from './header-button.js';
import { useChooseLanguage } from './mail-language.js';
import { notifyFailure } from './notices.js';
import { workspacesOf } from './navigation/navigation.js';
import { type Scheme, schemes } from './theme.js';
import { useSignOut } from './sign-out.js';

interface HeaderMenuProps {
  button: Pick<HeaderButtonProps, 'label' | 'icon'>;
  children: ReactNode;
}

/** Replaces the button that loaded it, and opens at once. */
function HeaderMenu({ button, children }: HeaderMenuProps) {
  const [isOpen, setOpen] = useState(true);
  // It opens once its button has the focus, so that closing returns the focus there.
  const hasButton = useMounted();
  return (
    <Menu position="bottom-end" opened={hasButton && isOpen} onChange={setOpen}>
      <Menu.Target>
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- it replaces the button that had the focus */}
        <HeaderButton {...button} autoFocus />
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

export function LanguageMenu() {
  const { t, i18n } = useTranslation('shell');
  const choose = useChooseLanguage();
  return (
    <HeaderMenu button={{ label: t('language'), icon: IconLanguage }}>
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
    </HeaderMenu>
  );
}

const schemeNames = Object.keys(schemes) as Scheme[];

export function ThemeMenu() {
  const { t } = useTranslation('shell');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <HeaderMenu button={{ label: t('theme.choose'), icon: schemes[colorScheme] }}>
      <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as Scheme)}>
        {schemeNames.map((scheme) => {
          const Icon = schemes[scheme];
          const icon = <Icon size={16} aria-hidden />;
          return (
            <Menu.RadioItem key={scheme} value={scheme} closeMenuOnClick rightSection={icon}>
              {t(`theme.${scheme}`)}
            </Menu.RadioItem>
          );
        })}
      </Menu.RadioGroup>
    </HeaderMenu>
  );
}

export function AccountMenu({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const signOut = useSignOut();
  const leaving = useMutation({
    mutationFn: () => signOut(() => api.POST('/api/sign-out')),
    onError: notifyFailure,
  });
  return (
    <HeaderMenu button={{ label: t('account'), icon: IconUserCircle }}>
      <Menu.Label>
        <Text size="xs" c="dimmed" maw="16rem" truncate>
          {session.email}
        </Text>
      </Menu.Label>
      {settingsOf(session).map(({ to, label }) => (
        <Menu.Item key={to} onClick={() => void navigate({ to })}>
          {t(`nav.${label}`)}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => leaving.mutate()}>
        {t('signOut')}
      </Menu.Item>
    </HeaderMenu>
  );
}

/** The links of the account menu. */
function settingsOf(session: Shape<'Session'>) {
  const links = workspacesOf(session).flatMap((workspace) => workspace.links);
  return links.filter(({ isInMenu }) => isInMenu).flatMap(({ pages }) => pages);
}
