import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import type { TableSchema } from '../../src/core/model.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { drop, selectorOf } from './drop-files.ts'
import { eventually } from './grid-page.ts'

let app: TestApp
let browser: Browser
let owner: TestUser
let baseId: string
let table: TableSchema
const problems: string[] = []

const own = () => app.trpc(owner.token)
const fieldId = (title: string) => table.fields.find((field) => field.title === title)?.id ?? ''

beforeAll(async () => {
  ;[app, browser] = await Promise.all([createTestApp(), shareBrowser()])
  owner = await app.signUp()
  baseId = (await own().bases.create.mutate({ title: 'Shop' })).id
  table = await own().schema.createTable.mutate({
    baseId,
    title: 'Stock',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Amount', type: 'Number' },
      { title: 'Secret', type: 'SingleLineText' },
      {
        title: 'State',
        type: 'SingleSelect',
        options: { choices: [{ title: 'new' }, { title: 'sold' }] },
      } as never,
    ],
  })
  const rows = Array.from({ length: 30 }, (_, at) => ({
    values: {
      [fieldId('Title')]: `thing ${at}`,
      [fieldId('Amount')]: at,
      [fieldId('Secret')]: `hush ${at}`,
      [fieldId('State')]: at % 2 ? 'new' : 'sold',
    },
  }))
  await own().records.write.mutate({
    change: { baseId, operations: [{ kind: 'insert', tableId: table.table.id, rows }] },
  })
})
afterAll(async () => {
  await closeContexts(browser)
  await app?.stop()
})

async function newView(kind: 'grid' | 'kanban' | 'gallery', settings: object = {}) {
  const view = await own().views.create.mutate({ tableId: table.table.id, title: `${kind} view`, kind })
  await own().views.arrange.mutate({
    viewId: view.id,
    fields: table.fields
      .filter(({ isSystem, isDisplay }) => !isSystem && !isDisplay)
      .map(({ id, title }) => ({ fieldId: id, show: title !== 'Secret' && title !== 'Id' })),
  })
  const target = { kind: 'view' as const, targetId: view.id }
  return { target, view, share: await own().shares.save.mutate({ ...target, patch: settings }) }
}

/** A browser that has never been here, at an address as it is given out. */
async function visit(path: string, page = '/shared'): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.on('weberror', (error) => problems.push(error.error().message))
  const opened = await context.newPage()
  await opened.goto(`${app.url}${page}#${path}`)
  return opened
}

describe('a visitor of a shared view', () => {
  test('sees what the view shows, tries out filters, opens a record, and writes nothing', async () => {
    const { share } = await newView('grid')
    // Also by the app's own address, as REST clients and people write it.
    const page = await visit(`/nc/view/${share.id}`, '/dashboard')
    await page.getByText('thing 3', { exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/shared')
    expect(await page.title()).toContain('grid view')
    const text = await page.locator('body').textContent()
    expect(text).not.toContain('hush')
    expect(text).not.toContain('Secret')
    expect(await page.getByTestId('add-record').count()).toBe(0)
    await page.getByText('thing 3', { exact: true }).click()
    await page.keyboard.press('Delete')
    await page.keyboard.type('x')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Space')
    const panel = page.getByTestId('record-panel')
    await panel.getByText('Amount').waitFor()
    expect(await panel.textContent()).not.toContain('History')
    const { rows } = await own().records.list.query({
      query: { tableId: table.table.id, fieldIds: [fieldId('Title')], limit: 100, offset: 3 },
    })
    expect(rows[0]).toEqual(['thing 3'])
    await page.context().close()
  })

  test('downloads the records where the link allows it', async () => {
    const { share, target } = await newView('grid')
    const page = await visit(`/nc/view/${share.id}`)
    await page.getByTestId('share-download').click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ])
    const csv = await Bun.file((await file.path()) ?? '').text()
    expect(csv.trim().split('\r\n')).toHaveLength(31)
    expect(csv).not.toContain('hush')
    await own().shares.save.mutate({ ...target, patch: { settings: { allowDownload: false } } })
    await page.reload()
    await page.getByText('thing 3', { exact: true }).waitFor()
    expect(await page.getByTestId('share-download').count()).toBe(0)
    await page.context().close()
  })

  test('does not select the text of the page by Ctrl+A', async () => {
    const { share } = await newView('kanban')
    const page = await visit(`/nc/kanban/${share.id}`)
    await page.getByText('thing 3', { exact: true }).waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    expect(await page.evaluate(() => getSelection()?.toString())).toBe('')
    await page.context().close()
  })

  test('goes on where a translator has changed the page', async () => {
    const { share } = await newView('grid')
    const page = await visit(`/nc/view/${share.id}`)
    await page.getByText('thing 3', { exact: true }).waitFor()
    // What React meets when a node that it removes has been moved into an element of the translator.
    await page.evaluate(() => {
      const { removeChild } = Node.prototype
      Node.prototype.removeChild = () => {
        Node.prototype.removeChild = removeChild
        throw new DOMException('The node to be removed is not a child of this node.', 'NotFoundError')
      }
    })
    await page.evaluate(() => {
      location.hash += '?rowId=4'
    })
    await page.getByTestId('record-panel').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('thing 3', { exact: true }).waitFor()
    expect(await page.getByText('Something went wrong').count()).toBe(0)
    await page.context().close()
  })

  test('gives the password once, and is out as soon as the link is closed', async () => {
    const { share, target } = await newView('kanban', { password: 'open sesame' })
    const page = await visit(`/nc/kanban/${share.id}`)
    const input = page.getByLabel('Password', { exact: true })
    await input.fill('open barley')
    await page.keyboard.press('Enter')
    await page.getByText('Incorrect password.').waitFor()
    await input.fill('open sesame')
    await page.keyboard.press('Enter')
    await page.getByText('thing 1', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('thing 1', { exact: true }).waitFor()
    await own().shares.close.mutate(target)
    await page.reload()
    await page.getByTestId('share-closed').waitFor()
    await page.context().close()
  })

  test('reads it in its direction and colour, also in a frame of another site', async () => {
    const { share } = await newView('gallery', { settings: { rtl: true, themeColor: '#AA3377' } })
    const site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        new Response(
          `<iframe id="f" width="1000" height="700" src="${app.url}/shared#/nc/view/${share.id}">`,
          {
            headers: { 'content-type': 'text/html' },
          },
        ),
    })
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${site.port}`)
    const frame = page.frameLocator('#f')
    await frame.getByText('thing 1', { exact: true }).waitFor()
    expect(await frame.locator('html').getAttribute('dir')).toBe('rtl')
    const color = await frame
      .locator('html')
      .evaluate((element) => getComputedStyle(element).getPropertyValue('--color-primary'))
    expect(color.trim()).toBe('#AA3377')
    await context.close()
    await site.stop(true)
    // The app itself, where somebody may be signed in, is framed by nobody.
    const policy = (await fetch(`${app.url}/dashboard`)).headers.get('content-security-policy')
    expect(policy).toContain("frame-ancestors 'self'")
  })
})

describe('a visitor of a shared base', () => {
  test('goes through its tables, edits as the link allows, and copies it after signing in', async () => {
    const share = await own().shares.save.mutate({
      kind: 'base',
      targetId: baseId,
      patch: { role: 'editor' },
    })
    const page = await visit(`/base/base/${share.id}`)
    await page
      .getByRole('navigation', { name: 'Tables' })
      .getByRole('link', { name: 'Stock' })
      .first()
      .waitFor()
    await page.getByText('thing 5', { exact: true }).click()
    await page.keyboard.type('changed by a visitor')
    await page.keyboard.press('Enter')
    const read = async () =>
      (
        await own().records.list.query({
          query: { tableId: table.table.id, fieldIds: [fieldId('Title')], limit: 1, offset: 5 },
        })
      ).rows[0]
    expect(await eventually(read, (row) => row?.[0] !== 'thing 5')).toEqual(['changed by a visitor'])
    const copy = await page.getByRole('link', { name: 'Copy to my bases' }).getAttribute('href')
    await page.goto(`${app.url}${copy}`)
    await page.getByLabel('Email').fill(owner.email)
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copy to my bases' }).click()
    await page.getByRole('heading', { level: 1, name: 'Shop copy' }).waitFor()
    await page.context().close()
  })

  test('drops a file into a cell, and downloads the view until the link forbids it', async () => {
    const fields = [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Files', type: 'Attachment' as const },
    ]
    const schema = await own().schema.createTable.mutate({ baseId, title: 'Papers', fields })
    const tableId = schema.table.id
    const [title, files] = fields.map((one) => schema.fields.find((field) => field.title === one.title)!.id)
    const operations = [{ kind: 'insert' as const, tableId, rows: [{ values: { [title!]: 'first' } }] }]
    await own().records.write.mutate({ change: { baseId, operations } })
    const target = { kind: 'base' as const, targetId: baseId }
    const share = await own().shares.save.mutate({ ...target, patch: { role: 'editor' } })
    const page = await visit(`/base/base/${share.id}/${tableId}`)
    await page.getByText('first', { exact: true }).waitFor()
    const cell = selectorOf({ schema, baseId, tableId }, 0, 'Files')
    await drop(page, cell, [{ name: 'note.txt', type: 'text/plain', text: 'hello' }])
    await page.locator(cell).getByTestId('file-thumb').waitFor()
    const kept = async () => {
      const { values } = await own().records.get.query({ tableId, recordId: 1 })
      return readAttachments(values[files!] ?? null).map((item) => item.title)
    }
    expect(await eventually(kept, ({ length }) => length > 0)).toEqual(['note.txt'])
    await page.getByTestId('share-download').click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('Papers.csv')
    expect(await Bun.file((await file.path()) ?? '').text()).toContain('first')
    await own().shares.save.mutate({ ...target, patch: { settings: { allowDownload: false } } })
    await page.reload()
    await page.getByText('first', { exact: true }).waitFor()
    expect(await page.getByTestId('share-download').count()).toBe(0)
    await page.context().close()
  })

  test('sees in a view only what its filter lets through, also where it names an address', async () => {
    const fields = [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Who', type: 'User' as const },
    ]
    const schema = await own().schema.createTable.mutate({ baseId, title: 'Duties', fields })
    const tableId = schema.table.id
    const [title, who] = fields.map((one) => schema.fields.find((field) => field.title === one.title)!.id)
    const rows = [
      { values: { [title!]: 'of the owner', [who!]: owner.id } },
      { values: { [title!]: 'common' } },
      { values: { [title!]: 'of nobody' } },
    ]
    const operations = [{ kind: 'insert' as const, tableId, rows, before: null }]
    await own().records.write.mutate({ change: { baseId, operations } })
    const children = [
      { fieldId: who!, operator: 'like', value: owner.email },
      { fieldId: title!, operator: 'eq', value: 'common' },
    ]
    const patch = { filter: { join: 'or' as const, children } }
    await own().views.update.mutate({ viewId: schema.views[0]!.id, patch })
    const target = { kind: 'base' as const, targetId: baseId }
    const share = await own().shares.save.mutate({ ...target, patch: { role: 'editor' } })
    const page = await visit(`/base/base/${share.id}/${tableId}`)
    await page.getByText('of the owner', { exact: true }).waitFor()
    expect(await page.getByText('common', { exact: true }).count()).toBe(1)
    expect(await page.getByText('of nobody', { exact: true }).count()).toBe(0)
    await page.getByText('2 records', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('0 records', { exact: true }).waitFor()
    const left = await own().records.list.query({
      query: { tableId, fieldIds: [title!], limit: 5, offset: 0 },
    })
    expect(left.rows).toEqual([['of nobody']])
    await page.context().close()
  })

  test('reads a shared diagram and nothing else', async () => {
    const [source] = await own().sources.list.query({ baseId })
    const share = await own().shares.save.mutate({ kind: 'erd', targetId: source?.id ?? '', patch: {} })
    const page = await visit(`/ERD/shared/${share.id}`)
    await page.getByTestId('erd').getByText('Amount', { exact: true }).waitFor()
    expect(await page.locator('body').textContent()).not.toContain('thing 1')
    await page.context().close()
  })
})

test('a link that leads nowhere says so, with a way to sign in', async () => {
  const page = await visit('/nc/view/nothing-here')
  await page.getByTestId('share-closed').getByRole('link', { name: 'Sign in' }).waitFor()
  await page.context().close()
})

test('no page of these tests broke', () => {
  expect(problems).toEqual([])
})
