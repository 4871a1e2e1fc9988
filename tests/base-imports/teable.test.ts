import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BaseImport } from '../../src/core/base-imports.ts'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { fillUploadLimit } from '../records/attachments-support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { startTeableServer, type TeableServer, type TeableServerTable } from '../support/teable-server.ts'
import { importFrom, recordsOf, settled } from './support.ts'

let app: TestApp
let owner: TestUser
let server: TeableServer
let done: BaseImport
/** More than one page. */
const SIZE = 520

const day = { date: 'D/M/YYYY', time: 'None', timeZone: 'Asia/Tokyo' }
const person = (name: string) => ({
  id: `usr${name}`,
  title: name,
  email: `${name.toLowerCase()}@example.com`,
})
const paragraph = (...children: object[]) => ({ type: 'p', children })
const span = (value: string) => ({ type: 'span', value })

function shop(): { customers: TeableServerTable; orders: TeableServerTable } {
  const text = { cellValueType: 'string' }
  const number = { cellValueType: 'number' }
  const ofCustomer = { linkFieldId: 'fldCustomer', foreignTableId: 'tblCustomers', relationship: 'manyOne' }
  const customers: TeableServerTable = {
    id: 'tblCustomers',
    name: 'Customers',
    fields: [
      { id: 'fldName', name: 'Name', type: 'singleLineText', isPrimary: true, options: {}, ...text },
      {
        id: 'fldShare',
        name: 'Share',
        type: 'number',
        options: { formatting: { type: 'percent', precision: 1 } },
        ...number,
      },
      {
        id: 'fldOrders',
        name: 'Orders',
        type: 'link',
        isMultipleCellValue: true,
        options: { relationship: 'oneMany', foreignTableId: 'tblOrders', symmetricFieldId: 'fldCustomer' },
      },
      {
        id: 'fldSum',
        name: 'Sum',
        type: 'rollup',
        options: { expression: 'sum({values})', formatting: { type: 'decimal', precision: 2 } },
        lookupOptions: { linkFieldId: 'fldOrders', foreignTableId: 'tblOrders', lookupFieldId: 'fldTotal' },
        ...number,
      },
      {
        id: 'fldJoined',
        name: 'Joined',
        type: 'rollup',
        options: { expression: 'array_join({values})' },
        lookupOptions: { linkFieldId: 'fldOrders', foreignTableId: 'tblOrders', lookupFieldId: 'fldRef' },
        ...text,
      },
      {
        id: 'fldOpen',
        name: 'Open orders',
        type: 'conditionalRollup',
        options: { expression: 'countall({values})', foreignTableId: 'tblOrders', lookupFieldId: 'fldRef' },
        ...number,
      },
    ],
    views: [{ id: 'viwC', name: 'Everyone', type: 'grid', columnMeta: {} }],
    records: ['Ann', 'Bo'].map((name, index) => ({
      id: `rec${name}`,
      createdTime: '2024-01-02T03:04:05.000Z',
      fields: {
        fldName: name,
        fldShare: index === 0 ? 0.07 : 0.5,
        fldOrders: Array.from({ length: SIZE }, (_, at) => ({ id: `recO${at}`, title: `R${at}` })).filter(
          (_, at) => at % 2 === index,
        ),
        fldSum: Array.from({ length: SIZE }, (_, at) => at / 4)
          .filter((_, at) => at % 2 === index)
          .reduce((sum, one) => sum + one, 0),
        fldJoined: `joined ${name}`,
        fldOpen: index + 3,
      },
    })),
  }
  const orders: TeableServerTable = {
    id: 'tblOrders',
    name: 'Orders',
    description: 'What was sold',
    fields: [
      { id: 'fldRef', name: 'Ref', type: 'singleLineText', isPrimary: true, options: {}, ...text },
      { id: 'fldNotes', name: 'Notes', type: 'longText', options: { showAs: { type: 'markdown' } }, ...text },
      { id: 'fldSite', name: 'Site', type: 'singleLineText', options: { showAs: { type: 'url' } }, ...text },
      {
        id: 'fldTotal',
        name: 'Total',
        type: 'number',
        options: { formatting: { type: 'currency', precision: 2, symbol: '€' } },
        ...number,
      },
      { id: 'fldDue', name: 'Due', type: 'date', options: { formatting: day }, cellValueType: 'dateTime' },
      {
        id: 'fldAt',
        name: 'At',
        type: 'date',
        options: { formatting: { date: 'YYYY-MM-DD', time: 'hh:mm', timeZone: 'Europe/Berlin' } },
        cellValueType: 'dateTime',
      },
      {
        id: 'fldState',
        name: 'State',
        type: 'singleSelect',
        options: {
          choices: [
            { id: 'cho1', name: 'open', color: 'yellowBright' },
            { id: 'cho2', name: 'paid, late', color: 'greenLight1' },
          ],
        },
        ...text,
      },
      {
        id: 'fldTags',
        name: 'Tags',
        type: 'multipleSelect',
        isMultipleCellValue: true,
        options: { choices: [{ name: 'a, b' }, { name: 'c' }] },
        ...text,
      },
      {
        id: 'fldStars',
        name: 'Stars',
        type: 'rating',
        options: { icon: 'heart', color: 'redBright', max: 3 },
      },
      { id: 'fldDone', name: 'Done', type: 'checkbox', options: {}, cellValueType: 'boolean' },
      { id: 'fldWho', name: 'Who', type: 'user', options: { isMultiple: false } },
      { id: 'fldTeam', name: 'Team', type: 'user', isMultipleCellValue: true, options: { isMultiple: true } },
      { id: 'fldFiles', name: 'Files', type: 'attachment', isMultipleCellValue: true, options: {} },
      { id: 'fldAuto', name: 'Serial', type: 'autoNumber', options: {}, ...number },
      {
        id: 'fldMade',
        name: 'Made',
        type: 'createdTime',
        options: { formatting: { date: 'YYYY-MM-DD', time: 'HH:mm', timeZone: 'UTC' } },
        cellValueType: 'dateTime',
      },
      { id: 'fldBy', name: 'Made by', type: 'createdBy', options: {} },
      {
        id: 'fldCustomer',
        name: 'Customer',
        type: 'link',
        options: { relationship: 'manyOne', foreignTableId: 'tblCustomers', symmetricFieldId: 'fldOrders' },
      },
      {
        id: 'fldOthers',
        name: 'Others',
        type: 'link',
        isMultipleCellValue: true,
        options: { relationship: 'manyMany', foreignTableId: 'tblCustomers', isOneWay: true },
      },
      {
        id: 'fldElsewhere',
        name: 'Elsewhere',
        type: 'link',
        options: { relationship: 'manyOne', foreignTableId: 'tblOther', baseId: 'bseOther', isOneWay: true },
      },
      {
        id: 'fldShares',
        name: 'Customer share',
        type: 'number',
        isLookup: true,
        options: { formatting: { type: 'percent', precision: 1 } },
        lookupOptions: { ...ofCustomer, lookupFieldId: 'fldShare' },
        ...number,
      },
      {
        id: 'fldFiltered',
        name: 'Filtered',
        type: 'singleLineText',
        isLookup: true,
        options: {},
        lookupOptions: {
          ...ofCustomer,
          lookupFieldId: 'fldName',
          filter: { conjunction: 'and', filterSet: [] },
        },
        ...text,
      },
      formula('Twice', '{fldTotal} * 2', {
        ...number,
        options: { formatting: { type: 'decimal', precision: 2 } },
      }),
      formula('Label', '{fldRef} + "-" + {fldState}', text),
      formula('Week', 'IF({fldTotal} > 100 && {fldDone}, "big", "small")', text),
      formula('Key', 'RECORD_ID()', text),
      formula('Wrong', '{fldTotal} + 1', number),
      { id: 'fldButton', name: 'Press', type: 'button', options: { label: 'Go' } },
      { id: 'fldNew', name: 'Strange', type: 'hologram', options: {} },
    ],
    views: [
      {
        id: 'viwGrid',
        name: 'Open ones',
        type: 'grid',
        options: { rowHeight: 'tall' },
        filter: {
          conjunction: 'and',
          filterSet: [
            { fieldId: 'fldState', operator: 'is', value: 'open' },
            { fieldId: 'fldDone', operator: 'is', value: null },
            {
              conjunction: 'or',
              filterSet: [
                { fieldId: 'fldTags', operator: 'hasAnyOf', value: ['a, b', 'c'] },
                {
                  fieldId: 'fldDue',
                  operator: 'isBefore',
                  value: { mode: 'daysFromNow', numberOfDays: 3, timeZone: 'UTC' },
                },
                { fieldId: 'fldDue', operator: 'isWithIn', value: { mode: 'currentWeek', timeZone: 'UTC' } },
              ],
            },
            { fieldId: 'fldCustomer', operator: 'is', value: 'recAnn' },
          ],
        },
        sort: { sortObjs: [{ fieldId: 'fldTotal', order: 'desc' }] },
        group: [{ fieldId: 'fldState', order: 'asc' }],
        columnMeta: {
          fldTotal: { order: 1, width: 222 },
          fldRef: { order: 2 },
          fldNotes: { order: 3, hidden: true },
        },
      },
      {
        id: 'viwBoard',
        name: 'Board',
        type: 'kanban',
        options: { stackFieldId: 'fldState', coverFieldId: 'fldFiles', isEmptyStackHidden: true },
        columnMeta: { fldRef: { order: 1 }, fldTotal: { order: 2, visible: true }, fldNotes: { order: 3 } },
      },
      {
        id: 'viwDays',
        name: 'Days',
        type: 'calendar',
        options: {
          startDateFieldId: 'fldDue',
          endDateFieldId: 'fldDue',
          colorConfig: { type: 'field', fieldId: 'fldState' },
        },
        columnMeta: {},
      },
      { id: 'viwForm', name: 'New order', type: 'form', options: { submitLabel: 'Send' }, columnMeta: {} },
      { id: 'viwPlugin', name: 'Chart', type: 'plugin', options: { pluginId: 'plgX' }, columnMeta: {} },
    ],
    records: Array.from({ length: SIZE }, (_, at) => ({
      id: `recO${at}`,
      createdTime: '2024-03-05T08:20:30.123Z',
      fields: {
        fldRef: `R${at}`,
        fldTotal: at / 4,
        fldState: 'open',
        fldAuto: at + 1,
        fldMade: '2024-03-05T08:20:30.123Z',
        fldCustomer: { id: at % 2 === 0 ? 'recAnn' : 'recBo', title: at % 2 === 0 ? 'Ann' : 'Bo' },
        fldShares: at % 2 === 0 ? 0.07 : 0.5,
        fldTwice: at / 2,
        fldLabel: `R${at}-open`,
        fldWeek: 'small',
        fldKey: `recO${at}`,
        fldWrong: at === 3 ? 99 : at / 4 + 1,
        ...(at === 0 && {
          fldNotes: '**bold**',
          fldSite: 'https://example.com',
          fldDue: '2024-02-28T15:00:00.000Z',
          fldAt: '2024-03-05T08:20:30.000Z',
          fldState: 'paid, late',
          fldLabel: 'R0-paid, late',
          fldTags: ['a, b', 'c'],
          fldStars: 2,
          fldDone: true,
          fldWho: person('Ann'),
          fldTeam: [person('Ann'), person('Gone')],
          fldFiles: [
            { id: 'act1', name: 'a.txt', token: 'tok1', size: 5, mimetype: 'text/plain', path: 'x' },
          ],
          fldBy: person('Ann'),
          fldOthers: [
            { id: 'recAnn', title: 'Ann' },
            { id: 'recBo', title: 'Bo' },
          ],
          fldFiltered: ['Ann'],
        }),
      },
    })),
    comments: {
      recO1: [
        {
          id: 'com1',
          createdBy: 'usrAnn',
          createdTime: '2024-04-01T10:00:00.000Z',
          content: [
            paragraph(span('Ask '), { type: 'mention', value: 'usrGone' }, span('!')),
            paragraph(span('Now')),
          ],
        },
        {
          id: 'com2',
          createdBy: { id: 'usrGone', name: 'Gone' },
          createdTime: '2024-04-01T11:00:00.000Z',
          quoteId: 'com1',
          reaction: [{ reaction: '🎉', user: [{ id: 'usrAnn', name: 'Ann' }] }],
          content: [paragraph({ type: 'a', title: 'here', url: 'https://example.com' })],
        },
      ],
    },
  }
  return { customers, orders }
}

const formula = (name: string, expression: string, more: { cellValueType: string; options?: object }) => ({
  id: `fld${name}`,
  name,
  type: 'formula',
  ...more,
  options: { ...more.options, expression },
})

const { customers, orders } = shop()
const from = () => ({
  source: 'teable' as const,
  credentials: { address: `${server.url}/`, token: 'teable_test' },
})

beforeAll(async () => {
  server = startTeableServer({
    failEvery: 10,
    limitEvery: 12,
    bases: [
      {
        id: 'bseShop',
        name: 'Shop',
        tables: [customers, orders],
        collaborators: [
          { userId: 'usrAnn', userName: 'Ann', email: 'ann@example.com' },
          { userId: 'usrGone', userName: 'Gone Long', email: 'gone@example.com' },
        ],
      },
    ],
  })
  server.files.set('tok1', new TextEncoder().encode('hello'))
  app = await createTestApp({ config: { allowLocalHttp: true } })
  owner = await app.signUp('ann@example.com')
  // Limits uploads only.
  await fillUploadLimit({ app }, owner.token)
  const { baseImports } = app.trpc(owner.token)
  const { id } = await baseImports.begin.mutate(importFrom(from(), 'bseShop', { keepCredentials: true }))
  done = await settled(app, owner, id)
})
afterAll(async () => {
  await app.stop()
  await server.stop()
})

const titlesIn = (cell: unknown) => readLinks(cell as string).records.map(({ title }) => title)
const report = async () => app.trpc(owner.token).baseImports.report.query({ importId: done.id })

describe('an import from Teable', () => {
  test('rejects a wrong token with what to do, and private addresses unless they are allowed', async () => {
    const { baseImports } = app.trpc(owner.token)
    const wrong = { source: 'teable' as const, credentials: { address: server.url, token: 'wrong' } }
    await expect(baseImports.inspect.mutate({ from: wrong })).rejects.toThrow('does not accept the token')
    await expect(baseImports.begin.mutate(importFrom(from(), 'bseOther'))).rejects.toThrow('not allowed')
    const guarded = await createTestApp()
    const user = await guarded.signUp()
    // The requests of a refused import may still be on their way to the first one.
    const other = startTeableServer({ bases: [] })
    const there = { source: 'teable' as const, credentials: { address: other.url, token: 'teable_test' } }
    await expect(guarded.trpc(user.token).baseImports.inspect.mutate({ from: there })).rejects.toThrow(
      'private',
    )
    expect(other.requests).toEqual([])
    await Promise.all([guarded.stop(), other.stop()])
  })

  test('rejects what is no address', async () => {
    const { baseImports } = app.trpc(owner.token)
    for (const address of ['nonsense', 'ftp://example.com', 'http://', '//x'])
      for (const source of ['teable', 'baserow'] as const)
        await expect(
          baseImports.inspect.mutate({ from: { source, credentials: { address, token: 'x' } } }),
        ).rejects.toMatchObject({ data: { code: 'BAD_REQUEST' } })
  })

  test('rejects answers that are not those of the API', async () => {
    server.overrides.set('/api/base/access/all', () => Response.json([{ name: 'no id' }]))
    const { baseImports } = app.trpc(owner.token)
    await expect(baseImports.inspect.mutate({ from: from() })).rejects.toThrow('not as its API documents it')
    server.overrides.clear()
  })

  test('is completed though the server limits requests and fails one in ten', () => {
    expect(done).toMatchObject({ status: 'completed', error: null })
    expect(server.counts.failed).toBeGreaterThan(0)
    expect(server.counts.limited).toBeGreaterThan(0)
    Object.assign(server.options, { failEvery: undefined, limitEvery: undefined })
    expect(done.tables.map(({ title, added }) => [title, added])).toEqual([
      ['Customers', 2],
      ['Orders', SIZE],
    ])
  })

  test('brings fields of all types with their values', async () => {
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    expect(rows.length).toBe(SIZE)
    const { Files, Customer, Others, ...first } = rows[0]!
    expect(first).toMatchObject({
      Ref: 'R0',
      Notes: '**bold**',
      Site: 'https://example.com',
      Total: 0,
      Due: '2024-02-29',
      At: '2024-03-05 08:20:30+00:00',
      State: 'paid, late',
      Tags: 'a; b,c',
      Stars: 2,
      Done: true,
      Who: owner.id,
      Team: owner.id,
      Serial: 1,
      Made: '2024-03-05 08:20:30+00:00',
      'Made by': owner.id,
    })
    expect(JSON.parse(String(Files))).toMatchObject([{ title: 'a.txt', size: 5 }])
    expect(titlesIn(Customer)).toEqual(['Ann'])
    expect(titlesIn(Others)).toEqual(['Ann', 'Bo'])
    const field = (title: string) => schema.fields.find((one) => one.title === title)!
    expect(field('Notes').options).toMatchObject({ rich: true })
    expect(field('Site').type).toBe('URL')
    expect(field('Total').options).toMatchObject({ code: 'EUR', precision: 2 })
    expect(field('Due').options).toMatchObject({ format: 'DD/MM/YYYY' })
    expect(field('At').options).toMatchObject({ timeZone: 'Europe/Berlin', time12h: true })
    expect(field('Stars').options).toMatchObject({ max: 3, icon: 'heart' })
    const { choices } = field('State').options as { choices: { color: string }[] }
    expect(choices.map(({ color }) => color)).toEqual(['#fcb400', '#d1f7c4'])
    expect(field('Customer').options).toMatchObject({ kind: 'bt' })
    const people = await recordsOf(app, owner, done.baseId!, 'Customers')
    expect(people.rows.map(({ Name, Share }) => [Name, Share])).toEqual([
      ['Ann', 7],
      ['Bo', 50],
    ])
  })

  test('computes lookups, rollups and formulas here, and keeps the values of the others', async () => {
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const typeOf = (title: string) => schema.fields.find((one) => one.title === title)?.type
    const types = ['Customer share', 'Twice', 'Label', 'Week', 'Filtered', 'Key', 'Wrong'].map(typeOf)
    expect(types).toEqual([
      'Lookup',
      'Formula',
      'Formula',
      'Formula',
      'SingleLineText',
      'SingleLineText',
      'Decimal',
    ])
    expect(typeOf('Made')).toBe('CreatedTime')
    expect(rows[0]).toMatchObject({ Label: 'R0-paid, late', Filtered: 'Ann', Key: 'recO0' })
    expect(rows[3]).toMatchObject({ Twice: 1.5, Label: 'R3-open', Week: 'small', Wrong: 99 })
    expect(rows[5]).toMatchObject({ Wrong: 2.25 })
    const people = await recordsOf(app, owner, done.baseId!, 'Customers')
    const kinds = people.schema.fields.filter(({ title }) => ['Sum', 'Joined', 'Open orders'].includes(title))
    expect(kinds.map(({ type }) => type)).toEqual(['Rollup', 'SingleLineText', 'Decimal'])
    expect(people.rows.map((row) => row['Open orders'])).toEqual([3, 4])
    expect(done.counts.verified).toBe(5 * SIZE + 2)
  })

  test('brings views with filters, sorts, groups, widths and options', async () => {
    const { schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const id = (title: string) => schema.fields.find((one) => one.title === title)!.id
    const view = (title: string) => schema.views.find((one) => one.title === title)!
    expect(view('Open ones')).toMatchObject({
      kind: 'grid',
      isDefault: true,
      rowHeight: 'tall',
      filter: {
        join: 'and',
        children: [
          { fieldId: id('State'), operator: 'eq', value: 'open' },
          { fieldId: id('Done'), operator: 'notchecked' },
          {
            join: 'or',
            children: [
              { fieldId: id('Tags'), operator: 'anyof', value: 'a; b,c' },
              { fieldId: id('Due'), operator: 'lt', operand: 'daysFromNow', value: 3 },
            ],
          },
        ],
      },
      sorts: [{ fieldId: id('Total'), direction: 'desc' }],
      groups: [{ fieldId: id('State'), direction: 'asc' }],
    })
    const columns = view('Open ones').fields
    expect(columns.find(({ fieldId }) => fieldId === id('Total'))).toMatchObject({ width: 222, show: true })
    expect(columns.find(({ fieldId }) => fieldId === id('Notes'))).toMatchObject({ show: false })
    expect(view('Board').options).toMatchObject({
      stackFieldId: id('State'),
      coverFieldId: id('Files'),
      hideEmpty: true,
    })
    expect(view('Days').options).toMatchObject({
      ranges: [{ fromFieldId: id('Due'), toFieldId: null }],
      colorFieldId: id('State'),
    })
    expect(view('New order').kind).toBe('form')
    expect(view('Chart').kind).toBe('grid')
  })

  test('brings comments with their authors, mentions and times', async () => {
    const { rows, table } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const { comments } = await app
      .trpc(owner.token)
      .comments.list.query({ tableId: table.id, recordId: Number(rows[1]!.$id) })
    expect(comments.map(({ text, createdBy, authorName }) => [text, createdBy, authorName])).toEqual([
      ['Ask @Gone Long!\nNow', owner.id, null],
      ['here https://example.com', owner.id, 'Gone Long'],
    ])
    expect(comments.map(({ parentId, reactions }) => [parentId, reactions])).toEqual([
      [null, []],
      [comments[0]!.id, [{ emoji: '🎉', userIds: [owner.id] }]],
    ])
    expect(done.counts.comments).toBe(2)
  })

  test('reports everything that was not imported as it was', async () => {
    const lines = await report()
    const reasonOf = (title: string) =>
      lines.find(({ fieldTitle, viewTitle }) => [fieldTitle, viewTitle].includes(title))?.reason
    const notes = lines.filter(({ kind, tableTitle }) => kind === 'note' && tableTitle === null)
    expect(notes.map(({ reason }) => reason)).toEqual([expect.stringContaining('automations')])
    expect(reasonOf('Strange')).toContain('hologram')
    expect(reasonOf('Press')).toContain('Buttons')
    expect(reasonOf('Elsewhere')).toContain('linked table')
    expect(reasonOf('Filtered')).toContain('condition')
    expect(reasonOf('Open orders')).toContain('condition')
    expect(reasonOf('Joined')).toContain('array_join')
    expect(reasonOf('Key')).toContain('RECORD_ID')
    expect(reasonOf('Wrong')).toContain(`1 of ${SIZE} values differ`)
    expect(reasonOf('Serial')).toContain('new records get none')
    const people = lines.filter(({ reason }) => reason.includes('member of the base'))
    expect(people.map(({ value, reason }) => [value, /\((.*)\)/.exec(reason)?.[1]])).toEqual([
      ['gone@example.com', 'Orders: Team'],
    ])
    expect(reasonOf('Chart')).toContain('plugin')
    expect(reasonOf('New order')).toContain('form')
    expect(lines.filter(({ viewTitle }) => viewTitle === 'Open ones').length).toBeGreaterThan(0)
    const quiet = ['Ref', 'Total', 'Due', 'Customer', 'Twice', 'Label', 'Sum', 'Board', 'Days']
    expect(
      lines.filter(({ fieldTitle, viewTitle }) => quiet.includes(fieldTitle ?? viewTitle ?? '')),
    ).toEqual([])
  })

  test('gives its records and its report through REST', async () => {
    const headers = { 'xc-auth': owner.token }
    const { table } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const page = await fetch(`${app.url}/api/v2/tables/${table.id}/records?limit=1&offset=7`, { headers })
    expect((await page.json()) as object).toMatchObject({
      list: [{ Ref: 'R7', Twice: 3.5, Label: 'R7-open' }],
    })
    const csv = await fetch(`${app.url}/api/internal/base-imports/${done.id}/report`, { headers })
    expect(await csv.text()).toContain('"skipped","Orders","Strange"')
  })

  test('brings the changes of a second run', async () => {
    orders.records[1]!.fields = { ...orders.records[1]!.fields, fldTotal: 50, fldTwice: 100, fldWrong: 51 }
    orders.comments = {
      ...orders.comments,
      recO1: [
        ...orders.comments!.recO1!,
        {
          id: 'com3',
          createdBy: 'usrAnn',
          createdTime: '2024-05-01T10:00:00.000Z',
          content: [paragraph(span('Changed'))],
        },
      ],
    }
    server.options.countsByPage = true
    const removed = orders.records.pop()!
    customers.records[1]!.fields.fldSum =
      Number(customers.records[1]!.fields.fldSum) + 49.75 - Number(removed.fields.fldTotal)
    const { baseImports } = app.trpc(owner.token)
    await baseImports.again.mutate({ importId: done.id, removeMissing: true })
    const second = await settled(app, owner, done.id)
    expect(second).toMatchObject({ status: 'completed', error: null, run: 2 })
    expect(second.tables[1]).toMatchObject({ added: 0, changed: 1, removed: 1 })
    const { rows } = await recordsOf(app, owner, done.baseId!, 'Orders')
    expect(rows.length).toBe(SIZE - 1)
    expect(rows[1]).toMatchObject({ Total: 50, Twice: 100 })
    expect(second.counts.comments).toBe(1)
  })

  test('leaves a single link that was made here, when the record that was missing comes', async () => {
    const text = { type: 'singleLineText', isPrimary: true, options: {}, cellValueType: 'string' }
    const at = '2024-03-05T08:20:30.000Z'
    const record = (id: string, fields: Record<string, unknown>) => ({ id, createdTime: at, fields })
    const shelves: TeableServerTable = {
      id: 'tblShelves',
      name: 'Shelves',
      fields: [{ id: 'fldShelf', name: 'Name', ...text }],
      views: [],
      records: [record('recS1', { fldShelf: 'A' })],
    }
    const vases: TeableServerTable = {
      id: 'tblVases',
      name: 'Vases',
      fields: [
        { id: 'fldVase', name: 'Name', ...text },
        {
          id: 'fldOn',
          name: 'On',
          type: 'link',
          options: { relationship: 'manyOne', foreignTableId: 'tblShelves', isOneWay: true },
        },
      ],
      views: [],
      records: ['One', 'Two'].map((name) => record(`rec${name}`, { fldVase: name, fldOn: { id: 'recS2' } })),
    }
    server.options.bases.push({ id: 'bseVases', name: 'Vases', tables: [shelves, vases] })
    const trpc = app.trpc(owner.token)
    const { id } = await trpc.baseImports.begin.mutate(
      importFrom(from(), 'bseVases', { keepCredentials: true }),
    )
    const { baseId } = await settled(app, owner, id)
    const { rows, table, schema } = await recordsOf(app, owner, baseId!, 'Vases')
    expect(rows.map(({ On }) => titlesIn(On))).toEqual([[], []])
    const [shelf] = (await recordsOf(app, owner, baseId!, 'Shelves')).rows
    await trpc.records.write.mutate({
      change: {
        baseId: baseId!,
        operations: [
          {
            kind: 'link',
            tableId: table.id,
            fieldId: schema.fields.find(({ title }) => title === 'On')!.id,
            id: rows[0]!.$id as number,
            targets: [shelf!.$id as number],
          },
        ],
      },
    })
    shelves.records.push(record('recS2', { fldShelf: 'B' }))
    await trpc.baseImports.again.mutate({ importId: id })
    expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', error: null })
    const now = (await recordsOf(app, owner, baseId!, 'Vases')).rows
    expect(now.map(({ On }) => titlesIn(On))).toEqual([['A'], ['B']])
  })

  test('reports that a token may not read comments', async () => {
    server.options.refusesComments = true
    const { baseImports } = app.trpc(owner.token)
    const { id } = await baseImports.begin.mutate(importFrom(from(), 'bseShop'))
    const other = await settled(app, owner, id)
    expect(other).toMatchObject({ status: 'completed', counts: { comments: 0 } })
    const lines = await baseImports.report.query({ importId: id })
    expect(lines.map(({ reason }) => reason)).toContain('These credentials give no access to comments')
  })
})
