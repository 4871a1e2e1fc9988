import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient, type RestClient, type TrpcClient } from '../support/client.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { eventually } from './grid-page.ts'

// "How to add a field type" of ARCHITECTURE.md, followed in a copy of the sources: a file for the type, a file for its
// cell, and a line in each of the three registries. Nothing else of the product is touched.

const ROOT = join(import.meta.dir, '../..')
const COPIED = [
  'src',
  'modules',
  'web',
  'migrations',
  'scripts',
  'package.json',
  'tsconfig.json',
  'bunfig.toml',
]

const TYPE = `import { z } from 'zod'
import { defineFieldType, describeValue, readFail, readOk } from './field-type.ts'

/** Degrees Celsius. */
export const temperature = defineFieldType({
  name: 'Temperature',
  label: () => 'Temperature',
  group: 'number',
  help: () => 'A temperature in degrees Celsius',
  example: '21.5 °C',
  storage: 'real',
  options: z.object({}),
  filters: 'number',
  summaries: 'number',
  formRules: ['number'],
  read: (input) =>
    typeof input === 'number' && input >= -273.15
      ? readOk(input)
      : readFail(\`Expected degrees Celsius, got \${describeValue(input)}\`),
  parse(text) {
    const [, digits, unit] = /^(-?\\d+(?:\\.\\d+)?) ?(?:°?([CF]))?$/.exec(text.trim()) ?? []
    if (digits === undefined) return null
    return unit === 'F' ? ((Number(digits) - 32) * 5) / 9 : Number(digits)
  },
  format: (value) => (value === null ? '' : \`\${value} °C\`),
  databaseTypes: { sqlite3: 'real', pg: 'double precision' },
})
`

const CELL = `import { Thermometer } from 'lucide-react'
import { temperature } from '../../src/core/fields/temperature.ts'
import { defineCell } from './cell.ts'
import { draftOf, TextInput } from './text-input.tsx'

/** Degrees with their unit. */
export const temperatureCell = defineCell(temperature, {
  Icon: Thermometer,
  align: 'end',
  minWidth: 60,
  View: ({ value, options }) => temperature.format(value, options),
  Editor: (props) => (
    <TextInput
      {...props}
      initial={temperature.format(props.value, props.options)}
      parse={(text) => draftOf(text, temperature.parse(text, props.options), 'Enter a temperature, such as 21 °C')}
    />
  ),
})
`

/** Messages are among the copied sources. */
const BUILD = "await (await import('./scripts/build-web.ts')).buildWeb({ isCompressed: false })"

/** Only ends a build that hangs: on a busy machine it takes minutes. */
const BUILD_TIMEOUT_MS = 600_000

/** A registry, its new line, and the line that it goes before. */
const LINES: [path: string, line: string, before: string][] = [
  ['src/core/fields/index.ts', '  temperature,', '  percent,'],
  ['web/cells/index.ts', '  Temperature: temperatureCell,', '  Percent: percentCell,'],
  ['web/features/forms/answers/form-cells.ts', '  Temperature: temperatureCell,', '  Time: timeCell,'],
]
const IMPORTS: Record<string, string> = {
  'src/core/fields/index.ts': "import { temperature } from './temperature.ts'\n",
  'web/features/forms/answers/form-cells.ts':
    "import { temperatureCell } from '../../../cells/temperature.tsx'\n",
  'web/cells/index.ts': "import { temperatureCell } from './temperature.tsx'\n",
}

function addType(root: string): void {
  writeFileSync(join(root, 'src/core/fields/temperature.ts'), TYPE)
  writeFileSync(join(root, 'web/cells/temperature.tsx'), CELL)
  for (const [path, line, before] of LINES) {
    const text = readFileSync(join(root, path), 'utf8')
    const at = text.indexOf(`\n${before}`)
    if (at < 0) throw new Error(`${path} has no line "${before}"`)
    writeFileSync(join(root, path), `${IMPORTS[path] ?? ''}${text.slice(0, at)}\n${line}${text.slice(at)}`)
  }
}

let folder: string
let server: ServerProcess
let browser: Browser
let page: Page
let token: string
let rest: RestClient
let trpc: TrpcClient
const problems: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-new-type-'))
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  addType(folder)
  const build = Bun.spawn([process.execPath, '-e', BUILD], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await build.exited).toBe(0)
  ;[server, browser] = await Promise.all([
    startServerProcess(join(folder, 'data'), { NODE_ENV: 'production' }, folder),
    shareBrowser(),
  ])
  const signedUp = await createTrpcClient(server.url).auth.signUp.mutate({
    email: 'ann@example.com',
    password: PASSWORD,
  })
  token = signedUp.token
  rest = createRestClient(server.url, token)
  trpc = createTrpcClient(server.url, token)
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript((own) => localStorage.setItem('sheaf.token', own), token)
  page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  await prepare()
}, BUILD_TIMEOUT_MS)

afterAll(async () => {
  await closeContexts(browser)
  await server?.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

let baseId: string
let tableId: string
let viewId: string

/** A table with the column, made over REST, and two records. */
async function prepare(): Promise<void> {
  const base = await trpc.bases.create.mutate({ title: 'Weather' })
  baseId = base.id
  const schema = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Rooms',
    fields: [{ title: 'Name', type: 'SingleLineText' }],
  })
  tableId = schema.table.id
  viewId = (await trpc.schema.table.query({ tableId })).views[0]?.id ?? ''
  const added = await rest.post(`/api/v2/meta/tables/${tableId}/columns`, {
    title: 'Warmth',
    uidt: 'Temperature',
  })
  expect([added.status, added.body?.msg]).toEqual([200, undefined])
  const rows = [
    { Name: 'Hall', Warmth: 18.5 },
    { Name: 'Cellar', Warmth: -2 },
  ]
  expect((await rest.post(`/api/v2/tables/${tableId}/records`, rows)).status).toBe(200)
}

const warmths = async (where = ''): Promise<unknown[]> => {
  const { body } = await rest.get(`/api/v2/tables/${tableId}/records?where=${encodeURIComponent(where)}`)
  return body.list.map(({ Warmth }: { Warmth: unknown }) => Warmth)
}

const cell = (row: number) => page.locator(`[role="gridcell"][data-row="${row}"]`).nth(1)

describe('a field type of two files and three lines', () => {
  test('is a column of the REST API: shown, written, checked and filtered', async () => {
    const { body } = await rest.get(`/api/v2/meta/tables/${tableId}`)
    const column = body.columns.find(({ title }: { title: string }) => title === 'Warmth')
    expect(column).toMatchObject({ uidt: 'Temperature', dt: 'real' })
    expect(await warmths()).toEqual([18.5, -2])
    expect(await warmths('(Warmth,gt,0)')).toEqual([18.5])
    const refused = await rest.post(`/api/v2/tables/${tableId}/records`, [{ Name: 'Attic', Warmth: 'warm' }])
    expect(refused.status).toBe(422)
    expect(JSON.stringify(refused.body)).toContain('Warmth')
    const { body: api } = await rest.get(`/api/v2/meta/bases/${baseId}/swagger.json`)
    expect(JSON.stringify(api)).toContain('"Warmth":{"type":"number","format":"double"')
  })

  test('is written to a file as text that an import reads back', async () => {
    const answer = await fetch(`${server.url}/api/v1/db/data/noco/${baseId}/${tableId}/export/csv`, {
      headers: { 'xc-auth': token },
    })
    expect(await answer.text()).toContain('Hall,18.5 °C')
  })

  test('is drawn and edited in the grid', async () => {
    await page.goto(`${server.url}/#/nc/${baseId}/${tableId}`)
    await cell(0).waitFor()
    expect(
      await eventually(
        () => cell(0).textContent(),
        (text) => text === '18.5 °C',
      ),
    ).toBe('18.5 °C')
    await cell(1).click()
    await page.keyboard.type('50F')
    await page.keyboard.press('Enter')
    expect(
      await eventually(
        () => cell(1).textContent(),
        (text) => text === '10 °C',
      ),
    ).toBe('10 °C')
    expect(await eventually(warmths, (now) => now.includes(10))).toEqual([18.5, 10])
  })

  test('is offered for new fields and filters the grid', async () => {
    await page.getByTestId('add-field').first().click()
    await page.getByTestId('field-type').click()
    await page.getByTestId('type-option').filter({ hasText: 'Temperature' }).waitFor()
    await page.keyboard.press('Escape')
    const { fields } = await trpc.schema.table.query({ tableId })
    const fieldId = fields.find(({ title }) => title === 'Warmth')?.id ?? ''
    await trpc.views.update.mutate({
      viewId,
      patch: { filter: { fieldId, operator: 'lt', value: 15 } },
    })
    expect(
      await eventually(
        () => cell(0).textContent(),
        (text) => text === '10 °C',
      ),
    ).toBe('10 °C')
  })

  test('is asked for in a form, by its own editor', async () => {
    // So that the test can be repeated.
    const name = `Attic ${crypto.randomUUID()}`
    const view = await trpc.views.create.mutate({ tableId, title: `Report of ${name}`, kind: 'form' })
    const share = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    await page.goto(`${server.url}/form#/nc/form/${share.id}`)
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Warmth').fill('warm')
    await page.getByTestId('form-submit').click()
    await page.getByText('Enter a temperature, such as 21 °C').first().waitFor()
    await page.getByLabel('Warmth').fill('32 F')
    await page.getByTestId('form-submit').click()
    await page.getByTestId('form-done').waitFor()
    expect(await warmths(`(Name,eq,${name})`)).toEqual([0])
    expect(problems).toEqual([])
  })
})
