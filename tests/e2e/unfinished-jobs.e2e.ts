import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import type { Base } from '../../src/core/model.ts'
import { createTestApp, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'

let app: TestApp
let browser: Browser
let owner: TestUser
let base: Base
let page: Page
/** Ends the job that the others of the base wait for. */
let release = () => {}
const problems: string[] = []

beforeAll(async () => {
  ;[app, browser] = await Promise.all([createTestApp(), shareBrowser()])
  owner = await app.signUp()
  base = await createBase(app, owner)
  app.kernel.jobs.register('occupies the base', {
    run: () =>
      new Promise<void>((resolve) => {
        release = resolve
      }),
    recover: async () => null,
  })
  page = await browser.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(app.url)
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
})
afterAll(async () => {
  release()
  await closeContexts(browser)
  await app?.stop()
})

test('jobs that still run are shown after a reload, go on to their end, and can be cancelled', async () => {
  const trpc = app.trpc(owner.token)
  const { table } = await trpc.schema.createTable.mutate({ baseId: base.id, title: 'Parts' })
  const other = await app.signUp()
  await app.kernel.jobs.start('occupies the base', { userId: other.id, baseId: base.id, input: {} })
  await app
    .rest(owner.token)
    .post(`/api/v2/meta/duplicate/${base.id}/table/${table.id}`, { title: 'Spare parts' })
  const { table: gone } = await trpc.schema.createTable.mutate({ baseId: base.id, title: 'Scrap' })
  await app
    .rest(owner.token)
    .post(`/api/v2/meta/duplicate/${base.id}/table/${gone.id}`, { title: 'More scrap' })
  await trpc.schema.deleteTable.mutate({ tableId: gone.id })
  const input = { baseId: base.id, fileName: 'people.csv', columns: [] }
  const { id } = await app.kernel.jobs.start('import', { userId: owner.id, baseId: base.id, input })

  await page.reload()
  const running = page.getByRole('region', { name: 'Running jobs' })
  const file = running.getByRole('region', { name: 'people.csv' })
  const copy = running.getByRole('region', { name: 'Copy: Spare parts' })
  await copy.getByText('Waiting for other work in this base').waitFor()
  await page.reload()
  await file.getByRole('button', { name: 'Cancel import' }).click()
  await file.getByText('Import cancelled').waitFor()
  expect((await app.kernel.jobs.find(id))?.status).toBe('cancelled')
  // The title of the page is the only heading above.
  await running.getByRole('heading', { name: 'Copy: Spare parts', level: 2 }).waitFor()
  release()
  await copy.getByText('Done').waitFor()
  const failed = running.getByRole('region', { name: 'Copy: More scrap' })
  await failed.getByText('The table was deleted').waitFor()
  expect(await failed.textContent()).not.toContain(gone.id)
  expect((await trpc.schema.tables.query({ baseId: base.id })).map(({ title }) => title)).toContain(
    'Spare parts',
  )
  await page.reload()
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
  expect(await running.count()).toBe(0)
  expect(problems).toEqual([])
})

test('an export that still runs after a reload offers its file when it has ended', async () => {
  const trpc = app.trpc(owner.token)
  const { table } = await trpc.schema.createTable.mutate({ baseId: base.id, title: 'Tools' })
  await app
    .rest(owner.token)
    .post(`/api/v2/tables/${table.id}/records`, [{ Title: 'Saw' }, { Title: 'Drill' }])
  const other = await app.signUp()
  await app.kernel.jobs.start('occupies the base', { userId: other.id, baseId: base.id, input: {} })
  await trpc.records.export.mutate({ tableId: table.id, title: 'Tools', format: 'csv', timeZone: 'UTC' })

  await page.reload()
  const running = page.getByRole('region', { name: 'Running jobs' })
  await running.getByText('Waiting for other work in this base').waitFor()
  release()
  await running.getByText('is ready').waitFor()
  const downloading = page.waitForEvent('download')
  await running.getByRole('button', { name: 'Download' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toEndWith('.csv')
  const text = await Bun.file(await download.path()).text()
  expect(text).toContain('Saw')
  expect(text).toContain('Drill')
  await running.getByRole('button', { name: 'Close' }).click()
  await running.waitFor({ state: 'detached' })
  expect(problems).toEqual([])
})
