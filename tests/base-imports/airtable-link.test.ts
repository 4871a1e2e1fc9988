import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { recordsOf, settled } from './support.ts'

/** A server that answers as the pages of shared bases and views do. */
const requests: { path: string; parameters: Record<string, unknown>; header: string | null }[] = []
const column = (id: string, name: string, type: string, typeOptions: object = {}) => ({
  id,
  name,
  type,
  typeOptions,
})
const tasks = {
  id: 'tblTasks',
  name: 'Tasks',
  primaryColumnId: 'fldName',
  columns: [
    column('fldName', 'Name', 'text'),
    column('fldMail', 'Mail', 'text', { validatorName: 'email' }),
    column('fldPrice', 'Price', 'number', { format: 'currency', symbol: '£', precision: 2 }),
    column('fldState', 'State', 'select', {
      choiceOrder: ['selB', 'selA'],
      choices: {
        selA: { id: 'selA', name: 'open', color: 'blueLight2' },
        selB: { id: 'selB', name: 'done', color: 'greenBright' },
      },
    }),
    column('fldDue', 'Due', 'date', { isDateTime: false, dateFormat: 'European' }),
    column('fldDone', 'Done', 'checkbox'),
    column('fldWho', 'People', 'foreignKey', { foreignTableId: 'tblPeople', symmetricColumnId: 'fldTasks' }),
    column('fldAges', 'Ages', 'rollup', {
      relationColumnId: 'fldWho',
      foreignTableRollupColumnId: 'fldAge',
      formulaTextParsed: 'AVERAGE(values)',
      resultType: 'number',
    }),
    column('fldNames', 'Names', 'lookup', {
      relationColumnId: 'fldWho',
      foreignTableRollupColumnId: 'fldPerson',
      resultType: 'text',
    }),
    column('fldTwice', 'Twice', 'formula', {
      formulaTextParsed: '{column_value_fldPrice} * 2',
      resultType: 'number',
    }),
  ],
  views: [{ id: 'viwMain', name: 'Main', type: 'grid', personalForUserId: 'usrAnn' }],
  viewSectionsById: {
    vscA: { id: 'vscA', name: 'Daily', viewOrder: ['viwMain'] },
    vscB: { id: 'vscB', name: 'Weekly', viewOrder: [] },
  },
  externalTableSyncById: { etsA: { id: 'etsA' } },
}
const people = {
  id: 'tblPeople',
  name: 'People',
  primaryColumnId: 'fldPerson',
  columns: [
    column('fldPerson', 'Person', 'text'),
    column('fldAge', 'Age', 'number', { format: 'decimal', precision: 0 }),
    column('fldTasks', 'Tasks', 'foreignKey', { foreignTableId: 'tblTasks', symmetricColumnId: 'fldWho' }),
  ],
  views: [],
}
const link = (...ids: string[]) => ids.map((foreignRowId) => ({ foreignRowId, foreignRowDisplayName: 'x' }))
const rows: Record<
  string,
  { id: string; createdTime: string; cellValuesByColumnId: Record<string, unknown> }[]
> = {
  tblTasks: [
    {
      id: 'recT1',
      createdTime: '2024-01-02T03:04:05.000Z',
      cellValuesByColumnId: {
        fldName: 'One',
        fldMail: 'one@example.com',
        fldPrice: 2.5,
        fldState: 'selB',
        fldDue: '2024-02-29T00:00:00.000Z',
        fldDone: true,
        fldWho: link('recP1', 'recP2'),
        fldAges: 35,
        fldNames: {
          valuesByForeignRowId: { recP1: 'Ann', recP2: 'Bo' },
          foreignRowIdOrder: ['recP1', 'recP2'],
        },
        fldTwice: 5,
      },
    },
    {
      id: 'recT2',
      createdTime: '2024-01-02T03:04:05.000Z',
      cellValuesByColumnId: { fldName: 'Two', fldState: 'selA', fldTwice: 0 },
    },
  ],
  tblPeople: [
    {
      id: 'recP1',
      createdTime: '2024-01-02T03:04:05.000Z',
      cellValuesByColumnId: { fldPerson: 'Ann', fldAge: 30, fldTasks: link('recT1') },
    },
    {
      id: 'recP2',
      createdTime: '2024-01-02T03:04:05.000Z',
      cellValuesByColumnId: { fldPerson: 'Bo', fldAge: 40, fldTasks: link('recT1') },
    },
  ],
}
const settings = {
  id: 'viwMain',
  columnOrder: [
    { columnId: 'fldState', visibility: true, width: 120 },
    { columnId: 'fldName', visibility: true, width: 240 },
    { columnId: 'fldMail', visibility: false },
  ],
  filters: { conjunction: 'and', filterSet: [{ columnId: 'fldState', operator: '=', value: 'selB' }] },
  lastSortsApplied: { sortSet: [{ columnId: 'fldPrice', ascending: false }] },
  groupLevels: [{ columnId: 'fldState', order: 'ascending' }],
  colorConfig: { type: 'selectColumn', selectColumnId: 'fldState' },
}

const pageOf = (path: string) =>
  `<html><script>var headers = {"x-airtable-application-id":"appShared"};
  window.initData = { urlWithParams: "${path.replaceAll('/', '\\u002F').replaceAll('&', '\\u0026')}" }</script></html>`
const policy = 'accessPolicy=%7B%22shareId%22%3A%22shrBase%22%7D'

let server: ReturnType<typeof Bun.serve>
let app: TestApp
let owner: TestUser
beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const url = new URL(request.url)
      if (url.pathname === '/appShared/shrBase') {
        return new Response(
          pageOf(
            `/v0.3/application/appShared/read?stringifiedObjectParams=%7B%22allowMsgpackOfResult%22%3Atrue%7D&requestId=req1&${policy}`,
          ),
        )
      }
      if (url.pathname === '/appShared/shrView') {
        return new Response(
          pageOf(
            `/v0.3/view/viwMain/readSharedViewData?stringifiedObjectParams=%7B%7D&requestId=req2&${policy}`,
          ),
        )
      }
      if (!url.pathname.startsWith('/v0.3/')) return new Response('<html>Sign in</html>')
      const parameters = JSON.parse(url.searchParams.get('stringifiedObjectParams') ?? '{}')
      requests.push({
        path: url.pathname,
        parameters,
        header: request.headers.get('x-airtable-application-id'),
      })
      if (!url.searchParams.has('accessPolicy')) return new Response(null, { status: 403 })
      if (url.pathname.includes('/view/')) {
        return Response.json({
          msg: 'SUCCESS',
          data: {
            table: {
              ...tasks,
              rows: rows.tblTasks,
              views: [{ ...tasks.views[0], personalForUserId: null, ...settings }],
            },
          },
        })
      }
      const ids: string[] = parameters.includeDataForTableIds ?? []
      return Response.json({
        msg: 'SUCCESS',
        data: {
          tableSchemas: [tasks, people],
          tableDatas: ids.map((id) => ({
            id,
            rows: rows[id],
            viewDatas: parameters.includeDataForViewIds && id === 'tblTasks' ? [settings] : [],
          })),
        },
      })
    },
  })
  app = await createTestApp({ config: { allowLocalHttp: true, airtableRequestsPerSecond: 500 } })
  owner = await app.signUp()
})
afterAll(async () => {
  await app.stop()
  await server.stop(true)
})

const choices = {
  views: true,
  comments: true,
  attachments: true,
  formulas: true,
  lookups: true,
  rollups: true,
  removeMissing: false,
  compareComments: false,
}
async function importLink(path: string) {
  const from = { source: 'airtable-link' as const, credentials: { link: `${server.url.origin}${path}` } }
  const { baseImports } = app.trpc(owner.token)
  const [base] = await baseImports.inspect.mutate({ from })
  const { id } = await baseImports.begin.mutate({ from, sourceBaseId: base!.id, title: 'Shared', choices })
  return settled(app, owner, id)
}

describe('an import from Airtable by a shared link', () => {
  test('rejects a link that leads to no shared base', async () => {
    await expect(importLink('/appShared/shrNone')).rejects.toThrow('not the link of a shared base')
  })

  test('brings the tables of a shared base with links, aggregations, formulas and view settings', async () => {
    const done = await importLink('/appShared/shrBase')
    const report = await app.trpc(owner.token).baseImports.report.query({ importId: done.id })
    const lines = report.map(({ tableTitle, viewTitle, reason }) => [tableTitle, viewTitle, reason])
    expect(lines.toSorted()).toEqual([
      [null, null, expect.stringContaining('automations')],
      ['Tasks', null, expect.stringContaining('Sync again')],
      ['Tasks', null, expect.stringContaining('Daily, Weekly')],
      ['Tasks', 'Main', expect.stringContaining('one person')],
    ])
    expect(done).toMatchObject({ status: 'completed', error: null, counts: { verified: 6, views: 1 } })
    const { rows: found, schema } = await recordsOf(app, owner, done.baseId!, 'Tasks')
    expect(found[0]).toMatchObject({
      Name: 'One',
      Mail: 'one@example.com',
      Price: 2.5,
      State: 'done',
      Due: '2024-02-29',
      Done: true,
      Ages: 35,
      Twice: 5,
    })
    expect(readLinks(found[0]!.People as string).records.map(({ title }) => title)).toEqual(['Ann', 'Bo'])
    const field = (title: string) => schema.fields.find((one) => one.title === title)!
    expect(field('Price').options).toMatchObject({ code: 'GBP' })
    expect(field('Ages').options).toMatchObject({ function: 'avg' })
    expect(field('State').options).toMatchObject({
      choices: [{ title: 'done', color: '#20c933' }, { title: 'open' }],
    })
    const [view] = schema.views
    expect(view).toMatchObject({
      title: 'Main',
      filter: { children: [{ fieldId: field('State').id, operator: 'eq', value: 'done' }] },
      sorts: [{ fieldId: field('Price').id, direction: 'desc' }],
      groups: [{ fieldId: field('State').id, direction: 'asc' }],
      coloring: { mode: 'select', fieldId: field('State').id },
    })
    expect(view!.fields.find(({ fieldId }) => fieldId === field('Mail').id)?.show).toBe(false)
    expect(view!.fields.find(({ fieldId }) => fieldId === field('State').id)?.width).toBe(120)
    // With the headers of the page, and as JSON.
    expect(
      requests.every(
        ({ header, parameters }) => header === 'appShared' && !('allowMsgpackOfResult' in parameters),
      ),
    ).toBe(true)
  })

  test('brings the table of a shared view, without links to tables that it does not show', async () => {
    const done = await importLink('/appShared/shrView')
    expect(done).toMatchObject({ status: 'completed', error: null })
    const { rows: found } = await recordsOf(app, owner, done.baseId!, 'Tasks')
    expect(found.map(({ Name, Names }) => [Name, Names])).toEqual([
      ['One', 'Ann, Bo'],
      ['Two', null],
    ])
    const report = await app.trpc(owner.token).baseImports.report.query({ importId: done.id })
    expect(report.map(({ fieldTitle }) => fieldTitle)).toEqual(
      expect.arrayContaining(['People', 'Ages', 'Names']),
    )
  })

  test('reports colours with conditions and the settings of other kinds of views, which are left out', async () => {
    const { colorConfig } = settings
    Object.assign(settings, {
      colorConfig: { type: 'colorDefinitions', colorDefinitions: [] },
      type: 'kanban',
    })
    const done = await importLink('/appShared/shrView')
    Object.assign(settings, { colorConfig, type: 'grid' })
    const report = await app.trpc(owner.token).baseImports.report.query({ importId: done.id })
    const reasons = report.flatMap(({ viewTitle, reason }) => (viewTitle === 'Main' ? [reason] : []))
    expect(reasons).toEqual([
      expect.stringContaining('Only colours by the options of a select'),
      expect.stringContaining('stacks, cover, dates or questions'),
    ])
  })
})
