import { Command } from 'commander';

/** A command by its name and what it does, which a parent has if it is given. */
export function command(name: string, about: string, parent?: Command): Command {
  return (parent?.command(name) ?? new Command(name)).description(about);
}
