import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { holdTurn } from '../support/hold-turn.ts'
import { gridTests, type OpenTable, textOf } from './grid-page.ts'

const tests = gridTests()
const FIELDS = [{ title: 'Title', type: 'SingleLineText' as const }]
/** So many take longer than a change may take unseen, on any machine. */
const MANY = 400_000

/** Copies the first record of a table. */
function copyFirst({ baseId, schema }: OpenTable): void {
  const { dataDir } = tests.app().config
  const [path] = [...new Bun.Glob(`**/*${baseId}*.db`).scanSync(dataDir)]
  const file = new Database(`${dataDir}/${path}`)
  file.run('pragma busy_timeout = 5000')
  const { tableName } = schema.table
  const columns = file
    .query<{ name: string }, []>(`pragma table_info("${tableName}")`)
    .all()
    .flatMap(({ name }) => (name === 'id' ? [] : `"${name}"`))
    .join(', ')
  file.run(`insert into "${tableName}" (id, ${columns})
    with recursive ids(n) as (select 2 union all select n + 1 from ids where n < ${MANY})
    select n, ${columns} from "${tableName}" join ids on id = 1`)
  file.close()
}

describe('a change of whole tables', () => {
  test('shows how many records it concerns while it runs', async () => {
    const table = await tests.createTable(FIELDS, [['first']])
    copyFirst(table)
    const grid = await tests.openTable(table)
    const selection = { tableId: table.tableId }
    // Another write has its turn until the bar is there: the page may not be connected yet.
    const releaseLinks = await holdTurn(tests.app().kernel, table.baseId)
    const deleted = tests.app().trpc(tests.owner().token).records.deleteMatching.mutate({ selection })
    const bar = grid.page.getByTestId('work-bar')
    await bar.waitFor()
    const count = bar.getByText('Deleting 400,000 records of').waitFor()
    await releaseLinks()
    await count
    expect((await deleted).count).toBe(MANY)
    await bar.waitFor({ state: 'detached' })
  })

  test('is shown again after a reload, with the button that cancels it', async () => {
    const table = await tests.createTable(FIELDS, [['first'], ['second']])
    const grid = await tests.openTable(table)
    const releaseLinks = await holdTurn(tests.app().kernel, table.baseId)
    const outcome = tests
      .app()
      .trpc(tests.owner().token)
      .records.deleteMatching.mutate({ selection: { tableId: table.tableId } })
      .catch((error) => error.message)
    const bar = grid.page.getByTestId('work-bar')
    await bar.waitFor()
    await grid.page.reload()
    await bar.getByText(`Preparing a change of ${table.schema.table.title}`).waitFor()
    await bar.getByRole('button', { name: 'Cancel' }).click()
    expect(await outcome).toBe('The change was cancelled. Nothing was changed.')
    await bar.waitFor({ state: 'detached' })
    await releaseLinks()
    await grid.shows('Title', ['first', 'second'])
  })

  test('that waits for its turn is cancelled by a button, which takes nothing with it', async () => {
    const table = await tests.createTable(FIELDS, [['first'], ['second']])
    const grid = await tests.openTable(table)
    const releaseLinks = await holdTurn(tests.app().kernel, table.baseId)
    const api = tests.app().trpc(tests.owner().token)
    const outcome = api.records.deleteMatching
      .mutate({ selection: { tableId: table.tableId } })
      .catch((error) => error.message)
    const bar = grid.page.getByTestId('work-bar')
    await bar.waitFor()
    expect(await textOf(bar)).toContain(`Preparing a change of ${table.schema.table.title}`)
    await bar.getByRole('button', { name: 'Cancel' }).click()
    expect(await outcome).toBe('The change was cancelled. Nothing was changed.')
    await bar.waitFor({ state: 'detached' })
    await releaseLinks()
    await grid.shows('Title', ['first', 'second'])
  })

  test('of a field says how far it is, also to others', async () => {
    const table = await tests.createTable(FIELDS, [['first']])
    copyFirst(table)
    const grid = await tests.openTable(table)
    const title = table.schema.fields.find((field) => field.title === 'Title')
    // Another write has its turn until the bar is there: the change itself may be over in a moment.
    const releaseLinks = await holdTurn(tests.app().kernel, table.baseId)
    const changed = tests
      .app()
      .trpc(tests.owner().token)
      .schema.updateField.mutate({ fieldId: title?.id ?? '', patch: { type: 'LongText' } })
    const bar = grid.page.getByTestId('work-bar')
    await bar.getByText(`Changing field Title of ${table.schema.table.title}`).waitFor()
    const share = bar.locator('[role=progressbar][value], progress[value]').waitFor()
    await releaseLinks()
    await share
    expect((await changed).type).toBe('LongText')
  })

  test('is cancelled by who made it, or by creators', async () => {
    const table = await tests.createTable(FIELDS, [['first']])
    const releaseLinks = await holdTurn(tests.app().kernel, table.baseId)
    const editor = await createMember(tests.app(), table.baseId, 'editor')
    const ids: string[] = []
    const stop = tests.app().kernel.events.on('work.changed', ({ id }) => ids.push(id))
    const outcome = tests
      .app()
      .trpc(tests.owner().token)
      .records.deleteMatching.mutate({ selection: { tableId: table.tableId } })
    while (ids.length === 0) await Bun.sleep(20)
    stop()
    const cancelAs = (token: string) =>
      tests
        .app()
        .trpc(token)
        .records.cancelWork.mutate({ baseId: table.baseId, workId: ids[0] ?? '' })
    await expect(cancelAs(editor.token)).rejects.toMatchObject({ data: { appCode: 'PERMISSION_DENIED' } })
    await releaseLinks()
    expect((await outcome).count).toBe(1)
    // One that has ended is no error: the button may be pressed at that moment.
    await cancelAs(tests.owner().token)
  })
})
