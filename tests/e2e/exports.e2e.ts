import { describe, expect, test } from 'bun:test'
import type { Download, Page } from 'playwright-core'
import { createBase } from '../support/factories.ts'
import { gridTests } from './grid-page.ts'
import { see } from './shell-page.ts'

const tests = gridTests()

const FIELDS = [
  { type: 'SingleLineText' as const, title: 'Name' },
  { type: 'Number' as const, title: 'Age' },
]
const PEOPLE = [
  ['Ada', 36],
  ['Grace', 85],
  ['Edsger', 72],
]

const textOf = async (file: Download): Promise<string> => Bun.file((await file.path()) ?? '').text()

/** Lets the page's questions after its job wait until the returned function is called. */
async function holdJobs(page: Page): Promise<() => void> {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/trpc/jobs.get**', async (route) => {
    await held
    await route.continue()
  })
  return release
}

describe('downloading a view', () => {
  test('gives its fields or those that are ticked, says what went wrong, and goes on without its dialog', async () => {
    const grid = await tests.open(FIELDS, PEOPLE)
    const { page } = grid
    const dialog = page.getByRole('dialog', { name: 'Download “Tasks”' })
    const download = dialog.getByRole('button', { name: 'Download' })
    const openDialog = async () => {
      await page.getByTestId('view-more').click()
      await page.getByRole('menuitem', { name: 'Download' }).click()
      await see(dialog)
    }

    // Without a server the choices stay, and the next try works.
    await openDialog()
    await dialog.getByLabel('Separator').selectOption(';')
    await page.context().setOffline(true)
    await download.click()
    await see(dialog.getByText('The server can’t be reached.'))
    await page.context().setOffline(false)
    const [csv] = await Promise.all([page.waitForEvent('download'), download.click()])
    expect(csv.suggestedFilename()).toBe('Tasks.csv')
    expect((await textOf(csv)).replace('\ufeff', '').trim().split('\r\n')).toEqual([
      'Name;Age',
      'Ada;36',
      'Grace;85',
      'Edsger;72',
    ])
    await dialog.waitFor({ state: 'detached' })
    grid.problems.length = 0

    // Two ticked records, as JSON.
    for (const row of [0, 2]) {
      await grid.cell(row, 'Name').hover()
      await page.getByRole('checkbox', { name: `Select record ${row + 1}` }).check()
    }
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Export' }).click()
    await see(dialog.getByText('Exports the 2 selected records'))
    await dialog.getByLabel('Format').selectOption('json')
    const [json] = await Promise.all([page.waitForEvent('download'), download.click()])
    expect(JSON.parse(await textOf(json)).map(({ Name }: { Name: string }) => Name)).toEqual([
      'Ada',
      'Edsger',
    ])
    await dialog.waitFor({ state: 'detached' })

    // The dialog may be left: the file comes all the same, and a message with it.
    await openDialog()
    const release = await holdJobs(page)
    await download.click()
    await see(dialog.getByText('Preparing…'))
    await dialog.getByRole('button', { name: 'Continue in background' }).click()
    await page.getByRole('link', { name: 'Overview' }).click()
    const file = page.waitForEvent('download')
    release()
    expect((await file).suggestedFilename()).toBe('Tasks.csv')
    await see(page.getByText('Downloaded “Tasks.csv”'))
  })
})

describe('downloading a workbook', () => {
  test('says how many texts it had no room for', async () => {
    const notes = { type: 'LongText' as const, title: 'Notes' }
    const { page } = await tests.open([FIELDS[0] ?? notes, notes], [['Ada', 'x'.repeat(32_768)]])
    await page.getByTestId('view-more').click()
    await page.getByRole('menuitem', { name: 'Download' }).click()
    const dialog = page.getByRole('dialog', { name: 'Download “Tasks”' })
    await dialog.getByLabel('Format').selectOption('xlsx')
    const file = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    expect((await file).suggestedFilename()).toBe('Tasks.xlsx')
    await see(page.getByText('1 text was cut at 32,767 characters'))
  })
})

describe('duplicating a base', () => {
  test('leads to the copy, with what was chosen, or says when it is ready to who went on', async () => {
    const api = tests.app().trpc(tests.owner().token)
    const long = `A base with ${'a very '.repeat(30)}long name`
    const base = await createBase(tests.app(), tests.owner(), long)
    const schema = await api.schema.createTable.mutate({ baseId: base.id, title: 'People', fields: FIELDS })
    const name = schema.fields.find(({ title }) => title === 'Name')?.id ?? ''
    await api.records.write.mutate({
      change: {
        baseId: base.id,
        operations: [{ kind: 'insert', tableId: schema.table.id, rows: [{ values: { [name]: 'Ada' } }] }],
      },
    })
    const { page } = await tests.openTable({ schema, baseId: base.id, tableId: schema.table.id })
    const duplicate = async () => {
      await page.getByRole('button', { name: /^Options for base/ }).click()
      await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    }
    const dialog = page.getByRole('dialog')

    await duplicate()
    await dialog.getByLabel('Name').fill('Without people')
    await dialog.getByLabel('Records').uncheck()
    await dialog.getByRole('button', { name: 'Duplicate' }).click()
    await see(page.getByRole('heading', { level: 1, name: 'Without people' }))
    const row = page.getByRole('row').filter({ hasText: 'People' })
    await see(row.getByRole('cell', { name: '0', exact: true }))

    await duplicate()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Without people copy')
    const release = await holdJobs(page)
    await dialog.getByRole('button', { name: 'Duplicate' }).click()
    await dialog.getByRole('button', { name: 'Continue in background' }).click()
    release()
    await see(page.getByText('“Without people copy” is ready'))
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await see(page.getByRole('heading', { level: 1, name: 'Without people copy' }))
  })
})
