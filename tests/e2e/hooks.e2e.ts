import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axeViolations } from '../support/axe.ts'
import { createMember } from '../support/factories.ts'
import { startOutboundRecorder } from '../support/outbound-recorder.ts'
import { eventually, gridTests, type OpenTable, textOf } from './grid-page.ts'

const tests = gridTests({ config: { allowLocalHttp: true } })
const receiver = startOutboundRecorder()
afterAll(() => receiver.stop())
beforeEach(() => receiver.clear())

/** Names a folder to look at the screens. */
const SHOTS = process.env.HOOK_SHOTS
const shoot = async (page: Page, name: string): Promise<void> =>
  void (SHOTS && (await page.screenshot({ path: `${SHOTS}/${name}.png` })))

const STATUS = {
  title: 'Status',
  type: 'SingleSelect' as const,
  options: { choices: [{ title: 'Open' }, { title: 'Done' }] },
}
const createTable = () =>
  tests.createTable(
    [{ title: 'Title', type: 'SingleLineText' }, STATUS],
    [
      ['Alpha', 'Open'],
      ['Beta', 'Open'],
    ],
  )

const openHooks = async (page: Page): Promise<void> => {
  await page.getByRole('complementary').getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
}

/** A webhook of the table that calls the receiver. */
const createHook = (table: OpenTable, settings: object = {}) =>
  tests
    .app()
    .trpc(tests.owner().token)
    .hooks.create.mutate({
      tableId: table.tableId,
      title: 'Tell the team',
      event: 'after',
      operations: ['update'],
      channel: { type: 'URL', payload: { path: `${receiver.url}/hook` } },
      ...settings,
    })

describe('webhooks', () => {
  test('are set up with a condition and a template, tried, and called for the records that match', async () => {
    const table = await createTable()
    const grid = await tests.openTable(table)
    const { page } = grid
    await openHooks(page)
    await page.getByText('No webhooks yet').waitFor()
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Tell the team')
    await dialog.getByRole('checkbox', { name: 'Record added' }).uncheck()
    await dialog.getByRole('checkbox', { name: 'Record changed' }).check()
    await dialog.getByRole('checkbox', { name: 'Only when one of these fields changes' }).check()
    await dialog.getByRole('checkbox', { name: 'Status', exact: true }).check()
    await dialog.getByRole('switch', { name: 'Only for records that match conditions' }).check()
    await dialog.getByRole('button', { name: 'Add condition' }).click()
    await dialog.getByRole('combobox', { name: 'Field' }).selectOption({ label: 'Status' })
    await dialog.getByRole('button', { name: 'Choose a value' }).click()
    await page.getByRole('radio', { name: 'Done' }).click()
    await dialog.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/hook`)

    const body = dialog.getByRole('textbox', { name: 'Body' })
    await body.fill('{"text": "{{"}')
    await dialog.getByText(/Character 11/).waitFor()
    await body.fill('{"text": "Done: "}')
    await body.press('End')
    await body.press('ArrowLeft')
    await body.press('ArrowLeft')
    await dialog.getByRole('button', { name: 'Insert a value' }).last().click()
    await page.getByRole('menuitem', { name: 'Title' }).click()
    const filled = '{"text": "Done: {{ event.data.rows.[0].Title }}"}'
    const value = await eventually(
      () => body.inputValue(),
      (text) => text === filled,
    )
    expect(value).toBe(filled)

    await dialog.getByRole('button', { name: 'Send test' }).click()
    await dialog.getByText(/Delivered in/).waitFor()
    expect(receiver.requests.map((request) => request.body)).toEqual(['{"text": "Done: Sample text"}'])
    receiver.clear()
    expect(await axeViolations(page)).toEqual([])

    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByTestId('hook').filter({ hasText: 'Tell the team' }).waitFor()
    const api = tests.app().trpc(tests.owner().token)
    const status = table.schema.fields.find(({ title }) => title === 'Status')!.id
    const rows = [
      { id: 1, values: { [status]: 'Done' } },
      { id: 2, values: { [status]: null } },
    ]
    await api.records.write.mutate({
      change: { baseId: table.baseId, operations: [{ kind: 'update', tableId: table.tableId, rows }] },
    })
    const [request] = await receiver.waitFor(1)
    expect(request?.body).toBe('{"text": "Done: Alpha"}')
    expect(request?.headers['webhook-signature']).toStartWith('v1,')
  })

  test('post to a chat when a field gets a value, in new records as well', async () => {
    const table = await createTable()
    const { page } = await tests.openTable(table)
    await openHooks(page)
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog')
    await shoot(page, 'becomes-1')
    await dialog.getByRole('combobox', { name: 'Event' }).selectOption({ label: 'A field gets a value' })
    await shoot(page, 'becomes-2')
    // The first field with choices is offered.
    expect(await dialog.getByRole('combobox', { name: 'Field' }).locator(':checked').textContent()).toBe(
      'Status',
    )
    await dialog.getByRole('combobox', { name: 'Send to', exact: true }).selectOption({ label: 'Slack' })
    await dialog.getByRole('button', { name: 'Send test' }).click()
    await dialog.getByText('Choose a channel, or enter its webhook URL.').waitFor()
    await dialog.getByRole('textbox', { name: 'Webhook URL of the channel' }).fill(`${receiver.url}/slack`)
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await dialog.getByText('Choose the value that calls the webhook.').waitFor()
    await dialog.getByRole('button', { name: 'Choose a value' }).click()
    await page.getByRole('radio', { name: 'Done' }).click()
    await dialog.getByRole('textbox', { name: 'Webhook URL of the channel' }).click()
    await shoot(page, 'becomes-3')
    if (SHOTS) {
      await page.setViewportSize({ width: 390, height: 800 })
      await shoot(page, 'becomes-narrow')
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
      await shoot(page, 'becomes-narrow-rtl')
      await page.setViewportSize({ width: 1280, height: 800 })
      await shoot(page, 'becomes-rtl')
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'ltr'))
    }
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Send test' }).click()
    await dialog.getByText(/Delivered in/).waitFor()
    await shoot(page, 'becomes-4')
    receiver.clear()
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByTestId('hook').filter({ hasText: 'Slack: Status is Done' }).waitFor()
    await shoot(page, 'becomes-5')

    const api = tests.app().trpc(tests.owner().token)
    const [hook] = await api.hooks.list.query({ tableId: table.tableId })
    const status = table.schema.fields.find(({ title }) => title === 'Status')!.id
    expect(hook).toMatchObject({
      event: 'after',
      operations: ['insert', 'update'],
      triggerFieldIds: [status],
      isConditional: true,
    })
    const path = `/api/v2/tables/${table.tableId}/records`
    const rest = tests.app().rest(tests.owner().token)
    await rest.patch(path, { Id: 1, Title: 'Alpha 2' })
    await rest.patch(path, { Id: 1, Status: 'Done' })
    await rest.patch(path, { Id: 1, Title: 'Alpha 3' })
    await rest.post(path, { Title: 'Gamma', Status: 'Done' })
    await receiver.waitFor(2)
    await tests.app().services.records.feed.settled(table.baseId)
    expect(receiver.requests.map(({ body }) => JSON.parse(body).text)).toEqual(['Alpha 2', 'Gamma'])

    // It opens as it was set up, and changes into its details.
    await page
      .getByTestId('hook')
      .getByRole('button', { name: /^Slack:/ })
      .click()
    const event = dialog.getByRole('combobox', { name: 'Event' })
    expect(await event.inputValue()).toBe('becomes')
    await event.selectOption({ label: 'Records are added, changed or deleted' })
    expect(await dialog.getByRole('checkbox', { name: 'Status', exact: true }).isChecked()).toBe(true)
    await shoot(page, 'becomes-6')
  })

  test('that an API client has stored without effect are shown as never called', async () => {
    const table = await createTable()
    const rest = tests.app().rest(tests.owner().token)
    const payload = { method: 'POST', path: `${receiver.url}/hook` }
    const hook = { version: 'v3', operation: ['insert'], notification: { type: 'URL', payload } }
    await rest.post(`/api/v2/meta/tables/${table.tableId}/hooks`, { ...hook, title: 'Views', event: 'view' })
    const { page } = await tests.openTable(table)
    await openHooks(page)
    const row = page.getByTestId('hook')
    await row.getByText('Never called').waitFor()
    await shoot(page, 'never-called')
    await row.getByRole('button', { name: 'Views', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/for which webhooks are never called/).waitFor()
    await dialog.getByRole('combobox', { name: 'Event' }).selectOption({ label: 'A field gets a value' })
    await dialog.getByRole('button', { name: 'Choose a value' }).click()
    await page.getByRole('radio', { name: 'Done' }).click()
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('Not called yet').waitFor()
  })

  test('post to several channels of a chat service', async () => {
    const table = await createTable()
    const api = tests.app().trpc(tests.owner().token)
    const config = ['team', 'sales'].map((channel) => ({
      channel,
      webhook_url: `${receiver.url}/${channel}`,
    }))
    await api.plugins.save.mutate({ id: 'slack', config })
    const { page } = await tests.openTable(table)
    await openHooks(page)
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Tell all')
    await dialog.getByRole('combobox', { name: 'Send to', exact: true }).selectOption({ label: 'Slack' })
    await dialog.getByRole('checkbox', { name: 'team' }).check()
    await dialog.getByRole('checkbox', { name: 'sales' }).check()
    await dialog.getByRole('button', { name: 'Add a webhook URL' }).click()
    await dialog.getByRole('textbox', { name: 'Webhook URL of the channel' }).fill(`${receiver.url}/other`)
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Hello')
    await shoot(page, 'channels')
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Send test' }).click()
    await dialog.getByText(/Delivered in/).waitFor()
    expect(receiver.requests.map(({ path }) => path).toSorted()).toEqual(['/other', '/sales', '/team'])
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByTestId('hook').filter({ hasText: 'team, sales' }).waitFor()
  })

  test('list their deliveries with request and response, and send them again', async () => {
    receiver.answer('/hook', { status: 410, body: 'gone for good' })
    const table = await createTable()
    const hook = await createHook(table, { event: 'manual', operations: [] })
    const { page } = await tests.openTable(table)
    const api = tests.app().trpc(tests.owner().token)
    await api.hooks.trigger.mutate({ hookId: hook.id, recordIds: [1] })
    await openHooks(page)
    await page
      .getByTestId('hook')
      .getByRole('button', { name: /Waiting|Failed|410/ })
      .click()
    const row = page.getByTestId('hook-deliveries').getByRole('listitem').first()
    await row.getByRole('button', { name: /Triggered by hand/ }).click()
    await row.getByText('gone for good').waitFor()
    await row.getByText(`POST ${receiver.url}/hook`).waitFor()
    receiver.answer('/hook', { status: 200 })
    await row.getByRole('button', { name: 'Send again' }).click()
    await page.getByTestId('hook-deliveries').getByText('200').first().waitFor()
  })

  test('list what was given up, and send all of it again with the same ids', async () => {
    receiver.answer('/hook', { status: 410 })
    const table = await createTable()
    const hook = await createHook(table, { event: 'manual', operations: [], deliverPer: 'record' })
    const api = tests.app().trpc(tests.owner().token)
    await api.hooks.trigger.mutate({ hookId: hook.id, recordIds: [1, 2] })
    const { page } = await tests.openTable(table)
    await openHooks(page)
    const row = page.getByTestId('hook')
    await row.getByRole('button', { name: /2 failed/ }).click()
    const list = page.getByTestId('hook-deliveries')
    await list.getByText('410').nth(1).waitFor()
    await shoot(page, 'given-up')
    const idsOf = () => receiver.requests.map(({ headers }) => headers['webhook-id']).toSorted()
    const before = idsOf()
    receiver.clear()
    await page.getByRole('button', { name: 'Retry all failed' }).click()
    await list.getByText('200').nth(1).waitFor()
    expect(idsOf()).toEqual(before)
    await page.keyboard.press('Escape')
    await row.getByText(/failed/).waitFor({ state: 'detached' })
  })

  test('show new deliveries and their ends without being asked again and again', async () => {
    receiver.answer('/hook', { status: 503, headers: { 'retry-after': '1' } })
    const table = await createTable()
    const hook = await createHook(table, { event: 'manual', operations: [] })
    const { page } = await tests.openTable(table)
    await openHooks(page)
    await page.getByTestId('hook').getByRole('button', { name: 'Not called yet' }).click()
    await page.getByText('No deliveries yet').waitFor()
    let reads = 0
    page.on('request', (request) => {
      if (request.url().includes('hooks.deliveries')) reads++
    })
    const api = tests.app().trpc(tests.owner().token)
    await api.hooks.trigger.mutate({ hookId: hook.id, recordIds: [1] })
    const row = page.getByTestId('hook-deliveries').getByRole('listitem').first()
    await row.getByText('503', { exact: true }).waitFor()
    receiver.answer('/hook', { status: 200 })
    await row.getByText('200', { exact: true }).waitFor()
    // News that came while the page read is read once more.
    let readsForChanges = -1
    while (reads !== readsForChanges) {
      readsForChanges = reads
      await page.waitForTimeout(1_000)
    }
    await page.waitForTimeout(3_500)
    expect(reads).toBe(readsForChanges)
  })

  test('are turned off, copied and deleted, and hidden from editors', async () => {
    const table = await createTable()
    await createHook(table)
    const { page } = await tests.openTable(table)
    await openHooks(page)
    await page.getByRole('switch', { name: 'Call the webhook “Tell the team”' }).uncheck()
    const menu = () => page.getByRole('button', { name: 'Options of the webhook “Tell the team”' }).click()
    await menu()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await eventually(
      () => page.getByTestId('hook').count(),
      (count) => count === 2,
    )
    const api = tests.app().trpc(tests.owner().token)
    const stored = await api.hooks.list.query({ tableId: table.tableId })
    expect(stored.map(({ isActive }) => isActive)).toEqual([false, false])
    await menu()
    await page.getByRole('menuitem', { name: 'Delete webhook' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
    expect(
      await eventually(
        () => page.getByTestId('hook').count(),
        (count) => count === 1,
      ),
    ).toBe(1)

    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const other = await tests.openTable(table, editor)
    expect(await other.page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  })
})

describe('a webhook that others change meanwhile', () => {
  test('stays turned off when somebody saves an editor that was open before', async () => {
    const table = await createTable()
    const { id } = await createHook(table)
    const { page } = await tests.openTable(table)
    await openHooks(page)
    await page.getByRole('button', { name: 'Tell the team', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const name = dialog.getByRole('textbox', { name: 'Name', exact: true })
    await name.waitFor()
    const { hooks } = tests.app().trpc(tests.owner().token)
    await hooks.setActive.mutate({ hookId: id, isActive: false })
    await name.fill('Tell everybody')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await hooks.get.query({ hookId: id })).toMatchObject({ title: 'Tell everybody', isActive: false })
  })
})

describe('buttons', () => {
  test('change their record after a question, call a webhook, and show how it ended', async () => {
    const table = await createTable()
    const hook = await createHook(table, { event: 'manual', operations: [] })
    const api = tests.app().trpc(tests.owner().token)
    const status = table.schema.fields.find(({ title }) => title === 'Status')!.id
    const { tableId } = table
    const addButton = (title: string, options: object) =>
      api.schema.createField.mutate({ tableId, field: { title, type: 'Button', options: { ...options } } })
    const finish = await addButton('Finish', {
      kind: 'update',
      values: { [status]: 'Done' },
      confirmation: 'Is it really finished?',
    })
    const tell = await addButton('Tell', { kind: 'webhook', webhookId: hook.id })
    const { page, cell } = await tests.openTable(table)
    const buttonOf = (row: number, fieldId: string) =>
      page.locator(`[role="gridcell"][data-row="${row}"][data-field="${fieldId}"] button`)

    await buttonOf(0, finish.id).click()
    await page.getByText('Is it really finished?').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Finish' }).click()
    expect(
      await eventually(
        () => textOf(cell(0, 'Status')),
        (text) => text === 'Done',
      ),
    ).toBe('Done')
    expect(await textOf(cell(1, 'Status'))).toBe('Open')

    await buttonOf(1, tell.id).click()
    await page.locator(`[data-row="1"] [data-press="done"]`).waitFor()
    expect(JSON.parse((await receiver.waitFor(1))[0]!.body).data.rows[0].Title).toBe('Beta')

    const viewer = await createMember(tests.app(), table.baseId, 'viewer')
    const other = await tests.openTable(table, viewer)
    const seen = other.page.locator(`[role="gridcell"][data-row="0"][data-field="${finish.id}"] button`)
    expect(await seen.isDisabled()).toBe(true)
  })
})

describe('webhooks that are triggered by hand', () => {
  const titlesOf = (body: string): string[] =>
    JSON.parse(body).data.rows.map((row: { Title: string }) => row.Title)

  test('are in the menus of a record and in the bar of checked records, for editors only', async () => {
    const table = await createTable()
    await createHook(table, { title: 'Print a label', event: 'manual', operations: [] })
    await createHook(table, { title: 'Turned off', event: 'manual', operations: [], isActive: false })
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const { page, cell } = await tests.openTable(table, editor)

    await cell(1, 'Title').click({ button: 'right' })
    const item = page.getByRole('menuitem', { name: 'Trigger “Print a label”' })
    await item.waitFor()
    await shoot(page, 'record-menu')
    expect(await page.getByRole('menuitem', { name: /Turned off/ }).count()).toBe(0)
    await item.click()
    await page.getByText('“Print a label” was called for 1 record').waitFor()
    expect(titlesOf((await receiver.waitFor(1))[0]!.body)).toEqual(['Beta'])

    receiver.clear()
    receiver.answer('/hook', { status: 410 })
    await cell(0, 'Title').click()
    await page.keyboard.press('Space')
    await page.getByTestId('record-panel').getByRole('button', { name: 'More', exact: true }).click()
    await item.click()
    await page.getByText(/The webhook was not delivered/).waitFor()
    expect(titlesOf((await receiver.waitFor(1))[0]!.body)).toEqual(['Alpha'])
    await page.keyboard.press('Escape')

    receiver.clear()
    receiver.answer('/hook', { status: 200 })
    await page.getByRole('checkbox', { name: 'Select all records' }).click()
    await page.getByTestId('bulk-bar').getByRole('button', { name: 'Trigger webhook…' }).click()
    await item.waitFor()
    await shoot(page, 'bulk-bar')
    await item.click()
    await page.getByText('“Print a label” was called for 2 records').waitFor()
    await shoot(page, 'triggered')
    expect(receiver.requests.map(({ body }) => titlesOf(body))).toEqual([['Alpha', 'Beta']])

    const commenter = await createMember(tests.app(), table.baseId, 'commenter')
    const other = await tests.openTable(table, commenter)
    await other.cell(1, 'Title').click({ button: 'right' })
    await other.page.getByRole('menuitem', { name: 'Open record' }).waitFor()
    expect(await item.count()).toBe(0)
    expect(await other.page.getByRole('menuitem', { name: /Trigger/ }).count()).toBe(0)
  })
})
