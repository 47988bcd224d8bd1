import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode, Ref } from 'react';

/** A link to a page of the console, in text. `to`, `params` and `search` are checked against the routes. */
export const TextLink = createLink(function TextLink(props: AnchorProps & { ref?: Ref<HTMLAnchorElement> }) {
  return <Anchor {...props} />;
});

interface NarrowLinkProps extends Omit<AnchorProps, 'children'> {
  search: object;
  children: ReactNode;
}

/** Stays on the page and changes some of what the address says. */
export function NarrowLink({ search, ...link }: NarrowLinkProps) {
  return <TextLink to="." search={(before) => ({ ...before, ...search })} resetScroll={false} {...link} />;
}

interface OpenLinkProps extends Omit<NarrowLinkProps, 'search'> {
  /** The name in the address that says what is open. */
  param: string;
  value: string;
}

/** Opens something beside what the page shows, such as the details of a row; see OpenPanel. */
export function OpenLink({ param, value, ...link }: OpenLinkProps) {
  return <NarrowLink search={{ [param]: value }} {...link} />;
}

/** A link that looks like a button: for the one thing that a page wants people to do. */
export const ButtonLink = createLink(function ButtonLink(
  props: ButtonProps & { ref?: Ref<HTMLAnchorElement> },
) {
  return <Button component="a" {...props} />;
});

/** Above what a page shows: the way back to the list that it is of. */
export const BackLink = createLink(function BackLink(props: AnchorProps & { ref?: Ref<HTMLAnchorElement> }) {
  return <Anchor size="sm" {...props} className="back-link" />;
});

/** A button that saves a file. */
export function DownloadButton({ href, ...button }: ButtonProps & { href: string; children: ReactNode }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      {...button}
    />
  );
}
