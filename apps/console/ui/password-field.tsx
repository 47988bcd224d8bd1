import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** The library's field for passwords, which tells screen readers of a fault as its other fields do. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={props.error ? true : undefined} {...props} />;
}
