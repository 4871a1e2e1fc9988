import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { withConfigRows } from '../scripts/config-table.ts'
import { withFunctionRows } from '../scripts/formula-table.ts'
import { VARIABLES } from '../src/config.ts'
import { FUNCTIONS } from '../src/core/formula/functions/index.ts'

const ROOT = join(import.meta.dir, '..')
const read = (name: string) => Bun.file(join(ROOT, name)).text()

describe('the documents', () => {
  test('list every environment variable with its default (`bun scripts/config-table.ts` writes the table)', async () => {
    const readme = await read('README.md')
    expect(readme).toBe(withConfigRows(readme))
    for (const { name } of Object.values(VARIABLES)) expect(readme).toContain(`\`${name}\``)
  })

  test('list every function of formulas (`bun scripts/formula-table.ts` writes the table)', async () => {
    const page = await read('docs/formulas.md')
    expect(page).toBe(withFunctionRows(page))
    for (const { name } of FUNCTIONS) expect(page).toContain(`| \`${name}(`)
  })

  test('mention only scripts that exist', async () => {
    const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
    for (const name of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md']) {
      for (const [, script] of (await read(name)).matchAll(/\bbun run ([a-z]+)/g)) {
        expect([name, script, String(script) in scripts]).toEqual([name, script, true])
      }
    }
  })

  test('link only to files that exist', async () => {
    for (const name of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md']) {
      for (const [, target = ''] of (await read(name)).matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
        expect([name, target, await Bun.file(join(ROOT, target)).exists()]).toEqual([name, target, true])
      }
    }
  })
})
