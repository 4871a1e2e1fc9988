import { afterEach, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'
import { compileMessages, generateMessages, ownMessages, TEXT_FOLDERS } from '../../scripts/messages.ts'
import { type Catalogue, showCatalogue } from '../../src/core/message.ts'
import { m } from '../../web/messages.gen.ts'

const ROOT = join(import.meta.dir, '../..')
const folders: string[] = []

afterEach(() => {
  showCatalogue(null)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const counted = (forms: Record<string, string>) => [
  {
    declarations: ['input count', 'input table', 'local n = count: number', 'local form = count: plural'],
    selectors: ['form'],
    match: Object.fromEntries(Object.entries(forms).map(([form, text]) => [`form=${form}`, text])),
  },
]
const ENGLISH = {
  common_cancel: 'Cancel',
  grid_delete: 'Delete "{title}"? Costs 5 $ \\{each\\}',
  grid_records: counted({ one: '{n} record in {table}', other: '{n} records in {table}' }),
  share_by: [
    {
      declarations: ['input kind', 'input name'],
      match: { 'kind=person': 'Shared by {name}', 'kind=*': 'Shared by a link' },
    },
  ],
}

/** A project with texts in some languages and these sources in web/. */
async function project(texts: Record<string, object>, sources: Record<string, string>): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'sheaf-messages-'))
  folders.push(root)
  for (const folder of TEXT_FOLDERS) {
    mkdirSync(join(root, folder, 'messages'), { recursive: true })
    for (const language of Object.keys(texts))
      writeFileSync(join(root, folder, `messages/${language}.json`), '{}')
  }
  mkdirSync(join(root, 'src/core'), { recursive: true })
  cpSync(join(ROOT, 'src/core/message.ts'), join(root, 'src/core/message.ts'))
  for (const [language, one] of Object.entries(texts))
    writeFileSync(join(root, `web/messages/${language}.json`), JSON.stringify(one))
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(root, 'web', name), source)
  await generateMessages(root)
  return root
}

const importFrom = (root: string, path: string) => import(pathToFileURL(join(root, path)).href)

describe('a text of messages/en.json', () => {
  test('takes inputs of the right name and type only', () => {
    // @ts-expect-error a missing input
    const missing = () => m.erd_relations_of_title({})
    // @ts-expect-error an input of another name
    const other = () => m.erd_relations_of_title({ title: 'Sales', name: 'Sales' })
    // @ts-expect-error no inputs at all
    const without = () => m.erd_relations_of_title()
    // @ts-expect-error inputs of a text that has none
    const needless = () => m.erd_zoom({ title: 'Sales' })
    // @ts-expect-error a text that does not exist
    const unknown = () => m.erd_no_such_text()
    for (const one of [missing, other, without, needless, unknown]) expect(one).toBeFunction()
    expect(m.erd_relations_of_title({ title: 'Sales' })).toBe('Relations of Sales')
  })

  test('has variants by plural form and by value, and numbers with separators', async () => {
    const root = await project({ en: ENGLISH }, {})
    const { m: texts } = await importFrom(root, 'web/messages.gen.ts')
    expect(texts.common_cancel()).toBe('Cancel')
    expect(texts.grid_delete({ title: 'A `b`' })).toBe('Delete "A `b`"? Costs 5 $ {each}')
    expect([0, 1, 2, 1234].map((count) => texts.grid_records({ count, table: 'Cars' }))).toEqual([
      '0 records in Cars',
      '1 record in Cars',
      '2 records in Cars',
      '1,234 records in Cars',
    ])
    expect(texts.share_by({ kind: 'person', name: 'Ann' })).toBe('Shared by Ann')
    expect(texts.share_by({ kind: 'link', name: 'Ann' })).toBe('Shared by a link')
  })
})

describe('another language', () => {
  test('has its own plural forms and separators, and leaves the rest to English', async () => {
    const root = await project(
      {
        en: ENGLISH,
        ru: {
          grid_records: counted({
            one: '{n} запись в {table}',
            few: '{n} записи в {table}',
            many: '{n} записей в {table}',
            other: '{n} записи в {table}',
          }),
        },
        pt_BR: { common_cancel: 'Cancelar' },
      },
      {},
    )
    const { m: texts } = await importFrom(root, 'web/messages.gen.ts')
    const { CATALOGUES } = await importFrom(root, 'web/catalogues.gen.ts')
    const runtime = await importFrom(root, 'src/core/message.ts')
    expect(Object.keys(CATALOGUES)).toEqual(['pt_BR', 'ru'])
    const load = async (language: string): Promise<Catalogue> => (await CATALOGUES[language]()).default
    runtime.showCatalogue(await load('ru'))
    expect([1, 2, 5, 21, 1.5, 12345].map((count) => texts.grid_records({ count, table: 'A' }))).toEqual([
      '1 запись в A',
      '2 записи в A',
      '5 записей в A',
      '21 запись в A',
      '1,5 записи в A',
      '12\u00a0345 записей в A',
    ])
    expect(texts.common_cancel()).toBe('Cancel')
    runtime.showCatalogue(await load('pt_BR'))
    expect(texts.common_cancel()).toBe('Cancelar')
  })
})

describe('a bundle', () => {
  test('carries the texts of a chunk in that chunk, and loads a language when it is chosen', async () => {
    const root = await project(
      { en: ENGLISH, de: { ...ENGLISH, common_cancel: 'Abbrechen' } },
      {
        'main.ts': `import { m } from './messages.gen.ts'
          import { CATALOGUES } from './catalogues.gen.ts'
          import { showCatalogue } from '../src/core/message.ts'
          export const cancel = m.common_cancel
          export const later = async () => (await import('./later.ts')).text
          export const german = async () => showCatalogue((await CATALOGUES.de!()).default)`,
        'later.ts': `import { m } from './messages.gen.ts'
          export const text = () => m.grid_delete({ title: 'x' }) + m.common_cancel()`,
      },
    )
    const outdir = join(root, 'out')
    await build({
      root,
      configFile: false,
      logLevel: 'error',
      plugins: [ownMessages()],
      build: {
        outDir: outdir,
        modulePreload: false,
        rolldownOptions: {
          input: join(root, 'web/main.ts'),
          preserveEntrySignatures: 'strict',
          output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
        },
      },
    })
    const chunks = readdirSync(outdir).filter((name) => name.endsWith('.js'))
    const having = (text: string) =>
      chunks.filter((name) => readFileSync(join(outdir, name), 'utf8').includes(text))
    expect(having('Cancel').length).toBe(2)
    expect(having('Costs 5 $').length).toBe(2)
    expect(having('Abbrechen').length).toBe(1)
    expect(having('Shared by a link').length).toBe(1)
    const main = readFileSync(join(outdir, 'main.js'), 'utf8')
    expect(main).toContain('Cancel')
    expect(main).not.toContain('Costs 5 $')
    expect(main).not.toContain('common_cancel')

    const bundle = await importFrom(root, 'out/main.js')
    const text = await bundle.later()
    expect(text()).toBe('Delete "x"? Costs 5 $ {each}Cancel')
    await bundle.german()
    expect([bundle.cancel(), text()]).toEqual(['Abbrechen', 'Delete "x"? Costs 5 $ {each}Abbrechen'])
  })
})

test('ids stay the same whatever texts there are', async () => {
  const idIn = async (texts: object) =>
    (await compileMessages(JSON.stringify(texts), 'en')).get('common_cancel')?.id
  expect(await idIn({ common_cancel: 'Abort', a_b: '' })).toBe(await idIn(ENGLISH))
})

test('texts that are the same in English are told apart in other languages', async () => {
  const root = await project(
    { en: { common_open: 'Open', shop_open: 'Open' }, de: { common_open: 'Öffnen', shop_open: 'Offen' } },
    {},
  )
  const { m: texts } = await importFrom(root, 'web/messages.gen.ts')
  const { CATALOGUES } = await importFrom(root, 'web/catalogues.gen.ts')
  const runtime = await importFrom(root, 'src/core/message.ts')
  expect([texts.common_open(), texts.shop_open()]).toEqual(['Open', 'Open'])
  runtime.showCatalogue((await CATALOGUES.de()).default)
  expect([texts.common_open(), texts.shop_open()]).toEqual(['Öffnen', 'Offen'])
})
