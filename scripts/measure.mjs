// `npm run measure`: figures on how large the code is, and how well it is divided.
// The default import: a Node without globSync can start this too, and continues under the pinned one.
import fs from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, root } from './lib/clone.mjs';

const HELP = `Measures the sources that run in production: lines, functions, files, folders, circles between files.

Usage: npm run measure [-- --json] [--list NAME] [--help]

  --json        print one JSON object
  --list NAME   print what a figure counts, such as --list longFunctions
`;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    list: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
} else {
  await prepare({ build: false });
  await underPinnedNode();
  const { default: ts } = await import('typescript');
  report(measure(ts));
}

/** @param {import('typescript')} ts */
function measure(ts) {
  const files = fs
    .globSync('{apps,libs}/**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules'] })
    .filter((file) => !/\.(spec|fixture)\.ts$|\.d\.ts$|^apps\/console\/api\/schema\.ts$/.test(file))
    .map((path) => {
      const text = fs.readFileSync(join(root, path), 'utf8');
      const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
      return {
        path,
        lines: text.split('\n').length - 1,
        tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind),
      };
    });
  const functions = files.flatMap((file) => functionsOf(ts, file));
  const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b);
  const at = (part) => lengths[Math.ceil(part * lengths.length) - 1];
  const folders = Map.groupBy(files, ({ path }) => dirname(path));
  const exported = Map.groupBy(
    files.flatMap((file) => exportsOf(ts, file)),
    ({ name }) => name,
  );
  return {
    files: files.length,
    lines: files.reduce((sum, { lines }) => sum + lines, 0),
    specs: fs.globSync('{apps,libs,test}/**/*.spec.{ts,tsx}', { cwd: root, exclude: ['**/node_modules'] })
      .length,
    functionMedian: at(0.5),
    functionP90: at(0.9),
    functionLongest: lengths.at(-1),
    functionsOver25: list(functions, ({ lines }) => lines > 25, where),
    functionsOver50: list(functions, ({ lines }) => lines > 50, where),
    functionsOver3Parameters: list(functions, ({ parameters }) => parameters > 3, where),
    filesOver300: list(
      files,
      ({ lines }) => lines > 300,
      ({ path, lines }) => `${path} ${lines}`,
    ),
    foldersOver25: list(
      [...folders],
      ([, inside]) => inside.length > 25,
      ([folder, inside]) => `${folder} ${inside.length}`,
    ),
    spreadLiterals: files.flatMap((file) => spreadsOf(ts, file)),
    circles: circlesOf(ts, files),
    exportedTwice: list(
      [...exported],
      ([, places]) => new Set(places.map(({ path }) => path)).size > 1,
      ([name, places]) => `${name}: ${places.map(({ path }) => path).join(', ')}`,
    ),
  };
}

function list(items, fits, word) {
  return items.filter(fits).map(word);
}

function where({ name, path, lines, parameters }) {
  return `${path} ${name}: ${lines} lines, ${parameters} parameters`;
}

/** Named functions: declarations, methods, constructors, accessors, and functions that a variable or property holds. */
function functionsOf(ts, { path, tree }) {
  const found = [];
  const visit = (node) => {
    const name = nameOf(ts, node);
    if (name !== null) {
      const { line: from } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      const { line: to } = tree.getLineAndCharacterOfPosition(node.end);
      found.push({ path, name, lines: to - from + 1, parameters: node.parameters.length });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function nameOf(ts, node) {
  if (!ts.isFunctionLike(node) || !node.body) return null;
  if (node.name) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const { parent } = node;
  const isHeld =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return isHeld ? parent.name.getText() : null;
}

function exportsOf(ts, { path, tree }) {
  return tree.statements
    .filter((statement) => statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .flatMap((statement) =>
      ts.isVariableStatement(statement)
        ? statement.declarationList.declarations.map(({ name }) => name.getText(tree))
        : [statement.name?.getText(tree) ?? 'default'],
    )
    .map((name) => ({ path, name }));
}

function spreadsOf(ts, { path, tree }) {
  const found = [];
  const visit = (node) => {
    const spread = ts.isSpreadAssignment(node) || ts.isSpreadElement(node) ? bare(ts, node.expression) : null;
    if (spread && (ts.isObjectLiteralExpression(spread) || ts.isArrayLiteralExpression(spread)))
      found.push(`${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Without parentheses and `as const`. */
function bare(ts, node) {
  const isWrapped = ts.isParenthesizedExpression(node) || ts.isAsExpression(node);
  return isWrapped ? bare(ts, node.expression) : node;
}

/** Groups of files that import each other in circles, including type imports. */
function circlesOf(ts, files) {
  const known = new Set(files.map(({ path }) => path));
  const imports = new Map(files.map((file) => [file.path, importsOf(ts, file, known)]));
  const reach = new Map();
  const reachable = (from) => {
    if (reach.has(from)) return reach.get(from);
    const seen = new Set();
    const next = [...imports.get(from)];
    while (next.length > 0) {
      const file = next.pop();
      if (seen.has(file)) continue;
      seen.add(file);
      next.push(...imports.get(file));
    }
    reach.set(from, seen);
    return seen;
  };
  const inCircles = [...known].filter((path) => reachable(path).has(path));
  const groups = Map.groupBy(inCircles, (path) =>
    inCircles.filter((other) => reachable(path).has(other) && reachable(other).has(path)).join(' <-> '),
  );
  return [...groups.keys()];
}

function importsOf(ts, { path, tree }, known) {
  return tree.statements
    .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .flatMap(({ moduleSpecifier }) => (moduleSpecifier ? [pathOf(path, moduleSpecifier.text)] : []))
    .map((target) =>
      ['.ts', '.tsx'].map((ending) => target?.replace(/\.js$/, ending)).find((each) => known.has(each)),
    )
    .filter((target) => target !== undefined);
}

function pathOf(file, specifier) {
  if (specifier.startsWith('#apps/')) return specifier.slice(1);
  if (specifier.startsWith('#')) return `libs/${specifier.slice(1)}`;
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : undefined;
}

function report(measures) {
  if (values.list !== undefined) {
    const items = measures[values.list];
    if (items === undefined)
      giveUp(`There is no figure ${values.list}, but ${Object.keys(measures).join(', ')}.`);
    process.stdout.write(Array.isArray(items) ? items.map((item) => `${item}\n`).join('') : `${items}\n`);
    return;
  }
  const figures = Object.fromEntries(
    Object.entries(measures).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );
  if (values.json) {
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    return;
  }
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name.padEnd(width)}  ${value}\n`);
}
