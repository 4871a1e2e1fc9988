import { describe, expect, test } from 'bun:test'
import { gridTests } from './grid-page.ts'
import { see } from './shell-page.ts'

const tests = gridTests()

const FIELDS = [
  { type: 'SingleLineText' as const, title: 'Name' },
  { type: 'Number' as const, title: 'Age' },
]

describe('exporting a base', () => {
  test('gives a file of the whole base, which becomes another base, or the records of chosen tables', async () => {
    const grid = await tests.open(FIELDS, [['Ada', 36]])
    const { page } = grid
    const dialog = page.getByRole('dialog', { name: /^Download/ })
    const openDialog = async () => {
      await page.getByRole('button', { name: /^Options for base/ }).click()
      await page.getByRole('menuitem', { name: 'Export…' }).click()
      await see(dialog)
    }
    await openDialog()
    await dialog.getByLabel('History of changes').check()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(file.suggestedFilename()).toEndWith('.sheaf')
    await dialog.waitFor({ state: 'detached' })

    await openDialog()
    await dialog.getByLabel('Format').selectOption('csv')
    await dialog.getByRole('checkbox', { name: 'Tasks' }).uncheck()
    expect(await dialog.getByRole('button', { name: 'Download' }).isDisabled()).toBe(true)
    await dialog.getByRole('checkbox', { name: 'Tasks' }).check()
    const [archive] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(archive.suggestedFilename()).toEndWith('.zip')
    await dialog.waitFor({ state: 'detached' })

    await page.goto(`${tests.app().url}/#/`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import Sheaf file' }).click()
    const importing = page.getByRole('dialog', { name: 'Import a Sheaf file' })
    const input = importing.locator('input[type="file"]')
    await input.setInputFiles({
      name: 'a.sheaf',
      mimeType: 'text/plain',
      buffer: Buffer.from('no base at all'),
    })
    await see(importing.getByText('This is no Sheaf file.'))
    await input.setInputFiles((await file.path()) ?? '')
    await importing.waitFor({ state: 'detached' })
    await see(page.getByRole('heading', { level: 1 }))
    const row = page.getByRole('row').filter({ hasText: 'Tasks' })
    await see(row.getByRole('cell', { name: '1', exact: true }))
  })

  test('says that the connection is lost while its file is sent, and is cancelled while the server starts it', async () => {
    const { page, problems } = await tests.open(FIELDS, [['Ada', 36]])
    const parts = /\/api\/internal\/uploads\/[a-z0-9]{20}/
    const starting = /\/trpc\/baseFiles\.import/
    await page.goto(`${tests.app().url}/#/`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import Sheaf file' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import a Sheaf file' })
    const held = Promise.withResolvers<void>()
    await page.route(starting, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.route(parts, (route) => route.abort('connectionreset'))
    const file = { name: 'a.sheaf', mimeType: 'text/plain', buffer: Buffer.from('no base at all') }
    await dialog.locator('input[type="file"]').setInputFiles(file)
    await see(dialog.getByText('Connection lost at 0%'))
    const started = page.waitForRequest(starting)
    await page.unroute(parts)
    await started
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    const cancelled = page.waitForRequest(/\/trpc\/jobs\.cancel/)
    held.resolve()
    await cancelled
    await page.unroute(starting)
    problems.length = 0 // The browser notes each lost connection.
  })
})
