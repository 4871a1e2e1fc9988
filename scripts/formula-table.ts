import { join } from 'node:path'
import { FUNCTIONS } from '../src/core/formula/functions/index.ts'

const PAGE = join(import.meta.dir, '..', 'docs', 'formulas.md')
const START = '<!-- functions:start -->\n'
const HEAD = '| function | meaning | example | not in |\n|---|---|---|---|\n'
const END = '<!-- functions:end -->'

/** Names of the database engines in the table. */
const DATABASES: Record<string, string> = { sqlite3: 'SQLite', pg: 'PostgreSQL', mysql2: 'MySQL, MariaDB' }

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** Rows of the table of functions, generated from their definitions. */
function functionRows(): string {
  return [...FUNCTIONS]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ syntax, help, examples, unavailable = [] }) => {
      const [first] = Object.entries(examples)
      const example = first ? `\`${cell(first[0])}\` is \`${cell(String(first[1] ?? 'nothing'))}\`` : ''
      const missing = Object.entries(DATABASES).flatMap(([client, name]) =>
        unavailable.includes(client) ? [name] : [],
      )
      return `| \`${cell(syntax)}\` | ${cell(help())} | ${example} | ${missing.join(', ') || '–'} |\n`
    })
    .join('')
}

/** Replaces the table in the page. */
export function withFunctionRows(page: string): string {
  const start = page.indexOf(START) + START.length
  return page.slice(0, start) + HEAD + functionRows() + page.slice(page.indexOf(END))
}

// `bun scripts/formula-table.ts` regenerates the table.
if (import.meta.main) await Bun.write(PAGE, withFunctionRows(await Bun.file(PAGE).text()))
