// A Vitest reporter that writes the results of a run to a file, with every error that failed it.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './clone.mjs';

/**
 * @typedef {object} Report
 * @property {number} ran tests that passed or failed
 * @property {number} passed
 * @property {string[]} leftOut tests that could not run here, or only partly, and why
 * @property {{ name: string, message: string }[]} failures tests, hooks and files that failed, and errors that no test
 *   caught: each of them fails the run
 */

/** The whole difference is in the output of the run. */
const MOST_DIFFERENCES = 16;

export default class TestReport {
  #file;

  onInit({ config }) {
    this.#file = typeof config.outputFile === 'string' ? config.outputFile : undefined;
  }

  /** A run that ends without this, for example because its process is killed, leaves no file. */
  onTestRunEnd(modules, unhandled) {
    if (this.#file === undefined) return;
    const count = (state) =>
      modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    const passed = count('passed');
    const failures = [
      ...modules.flatMap((module) => [...failuresOf(module)]),
      ...unhandled.map((error) => failure(`${error.type ?? 'Error'} outside of a test`, [error])),
    ];
    writeFileSync(
      this.#file,
      JSON.stringify({ ran: passed + count('failed'), passed, leftOut: [...leftOut(modules)], failures }),
    );
  }
}

/** Tests that recorded why they cannot run, or what they left out and why, as `meta.leftOut`. */
function* leftOut(modules) {
  for (const { children } of modules) {
    for (const test of children.allTests()) {
      const why = test.meta().leftOut;
      const verb = test.result().state === 'skipped' ? 'was left out' : 'left out';
      if (why) yield `"${test.name}" ${verb}: ${why}`;
    }
  }
}

function* failuresOf(module) {
  const file = relative(root, module.moduleId);
  if (module.errors().length > 0) yield failure(file, module.errors());
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) yield failure(`${file} > ${suite.fullName}`, suite.errors());
  }
  for (const test of module.children.allTests('failed')) {
    yield failure(`${file} > ${test.fullName}`, test.result().errors);
  }
}

/** @param {{ message?: string, stack?: string, diff?: string }[]} errors */
function failure(name, errors) {
  return { name, message: errors.map(told).join('\n') };
}

/** The message, what differs from what was expected, and where. */
function told({ stack, message, diff }) {
  const [first, ...where] = (stack ?? message ?? 'no message').split('\n');
  return [first, ...differences(diff), ...where].join('\n');
}

function differences(diff) {
  const lines = stripVTControlCharacters(diff ?? '').split('\n');
  return lines.filter((line) => /^[-+] /.test(line)).slice(0, MOST_DIFFERENCES);
}
