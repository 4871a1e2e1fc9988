import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { withConfigRows } from '../scripts/config-table.ts'
import { withFunctionRows } from '../scripts/formula-table.ts'
import { VARIABLES } from '../src/config.ts'
import { FUNCTIONS } from '../src/core/formula/functions/index.ts'

const ROOT = join(import.meta.dir, '..')
const PAGES = ['*.md', 'docs/*.md'].flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)].sort())
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

  test('list every slot of the registry', async () => {
    const defined: string[] = []
    for (const path of new Glob('{src,modules}/**/*.ts').scanSync(ROOT)) {
      for (const [, slot = ''] of (await read(path)).matchAll(/^export const ([A-Z_]+)\s*=\s*defineSlot</gm))
        defined.push(slot)
    }
    const rows = (await read('ARCHITECTURE.md')).matchAll(/^\| `([A-Z_]+)` \| `(?:src|modules)/gm)
    expect([...rows].map(([, slot]) => slot).sort()).toEqual(defined.sort())
  })

  test('mention only scripts that exist', async () => {
    const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
    for (const name of PAGES.filter((page) => page !== 'CHANGELOG.md')) {
      for (const [, script] of (await read(name)).matchAll(/\bbun run ([a-z]+)/g)) {
        expect([name, script, String(script) in scripts]).toEqual([name, script, true])
      }
    }
  })

  test('link only to files and headings that exist', async () => {
    const broken: string[] = []
    for (const name of PAGES) {
      for (const [, link = ''] of (await read(name)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', heading] = link.split('#')
        const target = path === '' ? name : join(dirname(name), path)
        const exists = await Bun.file(join(ROOT, target)).exists()
        if (!exists || (heading && !anchorsOf(await read(target)).has(heading)))
          broken.push(`${name}: ${link}`)
      }
    }
    expect(broken).toEqual([])
  })
})

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = page.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}
