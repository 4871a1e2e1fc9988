import { join } from 'node:path'
import { VARIABLES } from '../src/config.ts'

const README = join(import.meta.dir, '..', 'README.md')
const START = '<!-- config:start -->\n'
const HEAD = '| variable | also read | default | meaning |\n|---|---|---|---|\n'
const END = '<!-- config:end -->'

/** Rows of the README's table of environment variables, generated from their definitions. */
function configRows(): string {
  return Object.values(VARIABLES)
    .map((variable) => {
      const aliases = 'aliases' in variable ? variable.aliases : []
      const names = (aliases ?? []).map((alias) => `\`${alias}\``).join(', ')
      const fallback = variable.default === '' ? '–' : `\`${variable.default}\``
      return `| \`${variable.name}\` | ${names || '–'} | ${fallback} | ${variable.help} |\n`
    })
    .join('')
}

/** Replaces the table in the README. */
export function withConfigRows(readme: string): string {
  const start = readme.indexOf(START) + START.length
  return readme.slice(0, start) + HEAD + configRows() + readme.slice(readme.indexOf(END))
}

// `bun scripts/config-table.ts` regenerates the table.
if (import.meta.main) await Bun.write(README, withConfigRows(await Bun.file(README).text()))
