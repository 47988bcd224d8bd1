import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { Ref } from 'react';

/** A link to a page of the console, in text. `to`, `params` and `search` are checked against the routes. */
export const TextLink = createLink(function TextLink(props: AnchorProps & { ref?: Ref<HTMLAnchorElement> }) {
  return <Anchor {...props} />;
});

/** A link that looks like a button: for the one thing that a page wants people to do. */
export const ButtonLink = createLink(function ButtonLink(
  props: ButtonProps & { ref?: Ref<HTMLAnchorElement> },
) {
  return <Button component="a" {...props} />;
});
