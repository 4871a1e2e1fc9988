import { join } from 'node:path'
import { VARIABLES } from '../src/config.ts'

const README = join(import.meta.dir, '..', 'README.md')
const START = '<!-- config:start -->\n'
const HEAD = '| variable | also read | default | meaning |\n|---|---|---|---|\n'
const END = '<!-- config:end -->'

/** The rows of the README's table of environment variables, made from the variables themselves. */
export function configRows(): string {
  return Object.values(VARIABLES)
    .map((variable) => {
      const aliases = 'aliases' in variable ? variable.aliases : []
      const names = (aliases ?? []).map((alias) => `\`${alias}\``).join(', ')
      const fallback = variable.default === '' ? '–' : `\`${variable.default}\``
      return `| \`${variable.name}\` | ${names || '–'} | ${fallback} | ${variable.help} |\n`
    })
    .join('')
}

/** A README whose table is up to date. */
export function withConfigRows(readme: string): string {
  const start = readme.indexOf(START) + START.length
  return readme.slice(0, start) + HEAD + configRows() + readme.slice(readme.indexOf(END))
}

// `bun scripts/config-table.ts` writes the table anew.
if (import.meta.main) await Bun.write(README, withConfigRows(await Bun.file(README).text()))
