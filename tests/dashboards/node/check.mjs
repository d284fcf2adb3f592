// Check what `make dashboards` wrote with what Grafana is made of: the types of its dashboards, and
// its grammars of LogQL and TraceQL. Names each query; ends with 1 if something is wrong.
//
// node check.mjs DASHBOARDS_FOLDER, in a folder where package.json is installed.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser as logql } from '@grafana/lezer-logql';
import { parser as traceql } from '@grafana/lezer-traceql';

const VALUES = {
  side: 'host', service: '.+', tool: '.+', class: '.+', trace_id: '0af7651916cd43dd', chain_id: '0af7651916cd43dd',
  __range: '1h', __rate_interval: '5m', __auto: '1m',
};
const folder = process.argv[2];
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
let wrong = 0;

function filled(query) {
  return query.replace(/\$(\w+)/g, (_, name) => VALUES[name]);
}

// JSON has the values of an enum, and not its names: `Plain` is the type with those.
function typed(text) {
  return `import type { Dashboard } from '@grafana/schema';

type Plain<T> = T extends (infer U)[] ? Plain<U>[]
  : T extends object ? { [K in keyof T]: Plain<T[K]> }
  : T extends string ? \`\${T}\` : T;

export default ${text.trim()} satisfies Plain<Dashboard>;
`;
}

function check(kind, parser, board, panel, query) {
  const text = filled(query);
  const errors = [];
  parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) errors.push(text.slice(Math.max(0, node.from - 10), node.to + 10));
    },
  });
  console.log(`${errors.length ? 'WRONG' : 'ok   '} ${kind.padEnd(8)} ${board.uid}: ${panel.title}`);
  if (errors.length) {
    wrong += 1;
    console.error(`  ${text}\n  near: ${errors.join(' | ')}`);
  }
}

mkdirSync('types', { recursive: true });
for (const name of files) {
  const text = readFileSync(join(folder, name), 'utf8');
  const board = JSON.parse(text);
  writeFileSync(join('types', `${board.uid}.ts`), typed(text));
  for (const panel of board.panels) {
    for (const target of panel.targets ?? []) {
      if (target.datasource.type === 'loki') check('LogQL', logql, board, panel, target.expr);
      // A bare trace id is a look-up, and no query.
      if (target.datasource.type === 'tempo' && target.query.startsWith('{')) {
        check('TraceQL', traceql, board, panel, target.query);
      }
    }
  }
}

const sources = files.map((name) => join('types', name.replace('.json', '.ts')));
const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler'];
try {
  execFileSync('node_modules/.bin/tsc', [...options, ...sources], { stdio: 'inherit' });
  console.log(`ok    types    ${files.length} dashboards`);
} catch {
  wrong += 1;
}
process.exit(wrong ? 1 : 0);
