import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BaseImport } from '../../src/core/base-imports.ts'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { type BaserowServer, type BaserowServerTable, startBaserowServer } from '../support/baserow-server.ts'
import { importFrom, recordsOf, settled } from './support.ts'

let app: TestApp
let owner: TestUser
let server: BaserowServer
let done: BaseImport
/** More than one page. */
const SIZE = 210

const option = (id: number, value: string, color: string) => ({ id, value, color })
const STATES = [option(1, 'open', 'light-blue'), option(2, 'paid, late', 'dark-red')]
const TAGS = [option(3, 'a, b', 'green'), option(4, 'c', 'nothing')]
const NUMBER = { formula_type: 'number', number_decimal_places: 2 }
const TEXT = { formula_type: 'text' }
const text = (value: string) => ({ type: 'text', text: value })
const paragraph = (...content: object[]) => ({ type: 'paragraph', content })

const ofCustomer = { through_field_id: 30, through_field_name: 'Customers' }

const customers: BaserowServerTable = {
  id: 1,
  name: 'Customers',
  fields: [
    { id: 10, name: 'Name', type: 'text', primary: true },
    { id: 11, name: 'Budget', type: 'number', number_decimal_places: 1, number_suffix: ' kg' },
    { id: 12, name: 'Orders', type: 'link_row', link_row_table_id: 2, link_row_related_field_id: 30 },
    {
      id: 13,
      name: 'Sum',
      type: 'rollup',
      rollup_function: 'sum',
      through_field_id: 12,
      target_field_id: 22,
      ...NUMBER,
    },
    {
      id: 14,
      name: 'Number',
      type: 'count',
      through_field_id: 12,
      formula_type: 'number',
      number_decimal_places: 0,
    },
    {
      id: 15,
      name: 'Spread',
      type: 'rollup',
      rollup_function: 'stddev_pop',
      through_field_id: 12,
      target_field_id: 22,
      ...NUMBER,
    },
    { id: 16, name: 'Most', type: 'formula', formula: "max(lookup('Orders', 'Total'))", ...NUMBER },
    {
      id: 17,
      name: 'Span',
      type: 'formula',
      formula: `max(lookup('Orders', 'Total')) - min( lookup("Orders", "Total") ) + field('Budget')`,
      ...NUMBER,
    },
    {
      id: 18,
      name: 'Size',
      type: 'formula',
      formula: "if(sum(lookup('Orders','Total')) > 10, 'sum(lookup(', 'small')",
      ...TEXT,
    },
    {
      id: 19,
      name: 'Odd',
      type: 'formula',
      formula: "sum(lookup('Orders', 'Total') * 2)",
      ...NUMBER,
    },
    { id: 101, name: 'Refs', type: 'formula', formula: "join(lookup('Orders', 'Ref'), ', ')", ...TEXT },
    {
      id: 102,
      name: 'All',
      type: 'formula',
      formula: `concat("join(lookup('Orders', 'Ref'))", ': ', upper(join( lookup('Orders', "Ref") , '; ')))`,
      ...TEXT,
    },
    // The source sorts the list.
    { id: 103, name: 'Back', type: 'formula', formula: "join(lookup('Orders', 'Ref'), '-')", ...TEXT },
  ],
  views: [],
  rows: ['Ann', 'Bo'].map((name, index) => {
    const rows = Array.from({ length: SIZE }, (_, at) => at).filter((at) => at % 2 === index)
    return {
      id: index + 1,
      order: `${index + 1}.00000000000000000000`,
      field_10: name,
      field_11: '2.5',
      field_12: rows.map((at) => ({ id: at + 1, value: `R${at}` })),
      field_13: String(rows.reduce((sum, at) => sum + at / 4, 0)),
      field_14: rows.length,
      field_15: '1.25',
      field_16: String(rows.at(-1)! / 4),
      field_17: String((rows.at(-1)! - rows[0]!) / 4 + 2.5),
      field_18: 'sum(lookup(',
      field_19: '7.25',
      field_101: rows.map((at) => `R${at}`).join(', '),
      field_102: `join(lookup('Orders', 'Ref')): ${rows.map((at) => `R${at}`).join('; ')}`,
      field_103: rows
        .map((at) => `R${at}`)
        .toReversed()
        .join('-'),
    }
  }),
}

const orders: BaserowServerTable = {
  id: 2,
  name: 'Orders',
  fields: [
    { id: 20, name: 'Ref', type: 'text', primary: true },
    { id: 21, name: 'Notes', type: 'long_text', long_text_enable_rich_text: true },
    { id: 22, name: 'Total', type: 'number', number_decimal_places: 2, number_prefix: '€' },
    { id: 23, name: 'Share', type: 'number', number_decimal_places: 0, number_suffix: '%' },
    { id: 24, name: 'Stars', type: 'rating', max_value: 4, style: 'heart', color: 'dark-red' },
    { id: 25, name: 'Done', type: 'boolean' },
    { id: 26, name: 'Due', type: 'date', date_format: 'EU', date_include_time: false },
    {
      id: 27,
      name: 'At',
      type: 'date',
      date_format: 'US',
      date_include_time: true,
      date_time_format: '12',
      date_force_timezone: 'Europe/Berlin',
    },
    { id: 28, name: 'Took', type: 'duration', duration_format: 'd h:mm' },
    { id: 29, name: 'Files', type: 'file' },
    { id: 30, name: 'Customers', type: 'link_row', link_row_table_id: 1, link_row_related_field_id: 12 },
    { id: 31, name: 'Also', type: 'link_row', link_row_table_id: 1, link_row_related_field_id: null },
    { id: 32, name: 'Elsewhere', type: 'link_row', link_row_table_id: 77, link_row_related_field_id: 78 },
    { id: 33, name: 'State', type: 'single_select', select_options: STATES },
    { id: 34, name: 'Tags', type: 'multiple_select', select_options: TAGS },
    { id: 35, name: 'Phone', type: 'phone_number' },
    { id: 36, name: 'Site', type: 'url' },
    { id: 37, name: 'Mail', type: 'email' },
    { id: 38, name: 'Team', type: 'multiple_collaborators' },
    { id: 39, name: 'Key', type: 'uuid' },
    { id: 40, name: 'Serial', type: 'autonumber' },
    { id: 41, name: 'Secret', type: 'password' },
    { id: 42, name: 'Summary', type: 'ai', ai_output_type: 'text' },
    { id: 43, name: 'Made', type: 'created_on', date_format: 'ISO', date_include_time: true },
    { id: 44, name: 'Made by', type: 'created_by' },
    { id: 45, name: 'Changed', type: 'last_modified', date_format: 'ISO', date_include_time: false },
    { id: 46, name: 'Changed by', type: 'last_modified_by' },
    {
      id: 47,
      name: 'Names',
      type: 'lookup',
      ...ofCustomer,
      target_field_id: 10,
      formula_type: 'array',
      array_formula_type: 'text',
    },
    { id: 48, name: 'Fee', type: 'number', number_decimal_places: 2, number_suffix: 'kr' },
    { id: 50, name: 'Twice', type: 'formula', formula: "field('Total') * 2", ...NUMBER },
    {
      id: 51,
      name: 'Label',
      type: 'formula',
      formula: "concat(field('Ref'), '-', totext(field('State')))",
      ...TEXT,
    },
    { id: 52, name: 'Joined', type: 'formula', formula: "field('Ref') + '!' + upper(field('Ref'))", ...TEXT },
    {
      id: 53,
      name: 'Big',
      type: 'formula',
      formula: "if(and(field('Total') > 50, contains(field('Ref'), '1')), 'big', 'small')",
      ...TEXT,
    },
    {
      id: 54,
      name: 'Row',
      type: 'formula',
      formula: 'row_id()',
      formula_type: 'number',
      number_decimal_places: 0,
    },
    { id: 55, name: 'Wrong', type: 'formula', formula: "field('Total') + 1", ...NUMBER },
    {
      id: 56,
      name: 'Broken',
      type: 'formula',
      formula: "field('gone')",
      formula_type: 'invalid',
      error: 'gone',
    },
    { id: 57, name: 'Strange', type: 'hologram' },
    {
      id: 58,
      name: 'Nested',
      type: 'formula',
      // Written out, each level doubles the text.
      formula: `${'when_empty('.repeat(150)}field('Ref')${", 'x')".repeat(150)}`,
      ...TEXT,
    },
    {
      id: 60,
      name: 'Whose',
      type: 'formula',
      formula: "concat('by ', lookup('Customers', 'Name'))",
      formula_type: 'array',
      array_formula_type: 'text',
    },
    { id: 59, name: 'Chain', type: 'formula', formula: `1${' + 1'.repeat(4000)}`, ...NUMBER },
  ],
  views: [
    { id: 100, name: 'All', type: 'grid', field_options: { 22: { order: 1 }, 20: { order: 2 } } },
    {
      id: 101,
      name: 'Open',
      type: 'grid',
      row_height_size: 'large',
      filter_type: 'AND',
      filters: [
        { id: 1, field: 33, type: 'single_select_equal', value: '1', group: null },
        { id: 2, field: 25, type: 'boolean', value: 'false', group: null },
        { id: 3, field: 34, type: 'multiple_select_has', value: '3,4', group: 5 },
        { id: 4, field: 26, type: 'date_is_before', value: 'UTC?3?nr_days_from_now', group: 5 },
        { id: 5, field: 26, type: 'date_is', value: 'UTC??this_week', group: 5 },
        { id: 6, field: 30, type: 'link_row_has', value: '1', group: null },
      ],
      filter_groups: [{ id: 5, filter_type: 'OR', parent_group: null }],
      sortings: [{ id: 1, field: 22, order: 'DESC' }],
      group_bys: [{ id: 1, field: 33, order: 'ASC' }],
      decorations: [
        {
          type: 'left_border_color',
          value_provider_type: 'single_select_color',
          value_provider_conf: { field_id: 33 },
        },
      ],
      field_options: { 22: { order: 1, width: 222, hidden: false }, 21: { order: 2, hidden: true } },
    },
    {
      id: 102,
      name: 'Off',
      type: 'grid',
      filters_disabled: true,
      filters: [{ id: 7, field: 25, type: 'boolean', value: 'true', group: null }],
      decorations: [
        {
          type: 'background_color',
          value_provider_type: 'conditional_color',
          value_provider_conf: {
            colors: [
              {
                color: 'light-green',
                operator: 'AND',
                filters: [{ id: 'x', field: 22, type: 'higher_than', value: '5', group: null }],
              },
            ],
          },
        },
      ],
    },
    { id: 103, name: 'Board', type: 'kanban', single_select_field: 33, card_cover_image_field: 29 },
    { id: 104, name: 'Days', type: 'calendar', date_field: 26 },
    { id: 105, name: 'New order', type: 'form', field_options: { 20: { enabled: true, order: 1 } } },
    { id: 106, name: 'Plan', type: 'timeline' },
  ],
  rows: Array.from({ length: SIZE }, (_, at) => ({
    id: at + 1,
    order: `${at + 1}.00000000000000000000`,
    field_20: `R${at}`,
    field_22: (at / 4).toFixed(2),
    field_25: false,
    field_30: [{ id: (at % 2) + 1, value: at % 2 === 0 ? 'Ann' : 'Bo' }],
    field_31: [],
    field_33: STATES[0],
    field_34: [],
    field_38: [],
    field_40: at + 1,
    field_41: true,
    field_43: '2024-03-05T08:20:30.858177Z',
    field_44: { id: 7, name: 'Ann' },
    field_45: '2024-03-06',
    field_46: { id: 7, name: 'Ann' },
    field_47: [{ id: (at % 2) + 1, value: at % 2 === 0 ? 'Ann' : 'Bo' }],
    field_60: [{ id: 1 + (at % 2), value: at % 2 === 0 ? 'by Ann' : 'by Bo' }],
    field_50: (at / 2).toFixed(2),
    field_51: `R${at}-${at === 0 ? 'paid, late' : 'open'}`,
    field_52: `R${at}!R${at}`,
    field_53: at > 200 && String(at).includes('1') ? 'big' : 'small',
    field_54: at + 1,
    field_55: (at === 3 ? 99 : at / 4 + 1).toFixed(2),
    field_56: null,
    ...(at === 0 && {
      field_21: '**bold**',
      field_23: '50',
      field_24: 3,
      field_25: true,
      field_26: '2024-02-29',
      field_27: '2024-03-05T08:20:30Z',
      field_28: 90_000,
      field_29: [{ name: 'hash1.txt', visible_name: 'a.txt', size: 5, mime_type: 'text/plain' }],
      field_31: [
        { id: 1, value: 'Ann' },
        { id: 2, value: 'Bo' },
      ],
      field_33: STATES[1],
      field_34: TAGS,
      field_35: '+49 30 1',
      field_36: 'https://example.com',
      field_37: 'a@example.com',
      field_38: [
        { id: 7, name: 'Ann' },
        { id: 8, name: 'Gone' },
      ],
      field_39: '018f2b6e-0000-7000-8000-000000000000',
      field_42: 'A summary',
    }),
  })),
  comments: {
    2: [
      {
        id: 1,
        user_id: 7,
        first_name: 'Ann',
        created_on: '2024-04-01T10:00:00Z',
        message: {
          type: 'doc',
          content: [
            paragraph(text('Ask '), { type: 'mention', attrs: { id: 8, label: 'Gone' } }, text('!')),
            paragraph(text('Now')),
          ],
        },
      },
      { id: 2, user_id: 9, first_name: 'Former', created_on: '2024-04-01T11:00:00Z', comment: 'plain' },
    ],
  },
}

const account = () => ({
  source: 'baserow' as const,
  credentials: { address: `${server.url}/`, email: 'ann@example.com', password: 'secret' },
})
const byToken = (token = 'token') => ({
  source: 'baserow' as const,
  credentials: { address: server.url, token },
})

beforeAll(async () => {
  server = startBaserowServer({
    failEvery: 10,
    limitEvery: 24,
    databases: [{ id: 5, name: 'Shop', tables: [customers, orders] }],
    users: [
      { user_id: 7, name: 'Ann', email: 'ann@example.com' },
      { user_id: 8, name: 'Gone', email: 'gone@example.com' },
    ],
  })
  server.files.set('hash1.txt', new TextEncoder().encode('hello'))
  // The session ends in the middle of the import.
  let asked = 0
  server.delays.set('/api/database/rows/table/2/', async () => {
    asked += 1
    if (asked === 2) server.expireSessions()
  })
  app = await createTestApp({ config: { allowLocalHttp: true } })
  owner = await app.signUp('ann@example.com')
  const { id } = await app
    .trpc(owner.token)
    .baseImports.begin.mutate(importFrom(account(), '5', { keepCredentials: true }))
  done = await settled(app, owner, id)
})
afterAll(async () => {
  await app.stop()
  await server.stop()
})

const titlesIn = (cell: unknown) => readLinks(cell as string).records.map(({ title }) => title)

describe('an import from Baserow', () => {
  test('is completed though the server limits requests, fails one in ten and ends the session', () => {
    expect(done).toMatchObject({ status: 'completed', error: null })
    expect(server.counts.failed).toBeGreaterThan(0)
    expect(server.counts.limited).toBeGreaterThan(0)
    expect(server.requests.filter((path) => path === '/api/user/token-auth/').length).toBeGreaterThan(2)
    Object.assign(server.options, { failEvery: undefined, limitEvery: undefined })
    expect(done.tables.map(({ title, added }) => [title, added])).toEqual([
      ['Customers', 2],
      ['Orders', SIZE],
    ])
  })

  test('rejects wrong credentials, a second factor and unknown databases', async () => {
    const { baseImports } = app.trpc(owner.token)
    await expect(baseImports.inspect.mutate({ from: byToken('wrong') })).rejects.toThrow('does not accept')
    const wrong = { ...account().credentials, password: 'wrong' }
    const from = { source: 'baserow' as const, credentials: wrong }
    await expect(baseImports.inspect.mutate({ from })).rejects.toThrow('does not accept')
    await expect(baseImports.begin.mutate(importFrom(byToken(), '6'))).rejects.toThrow('no table')
    server.options.asksForSecondFactor = true
    await expect(baseImports.inspect.mutate({ from: account() })).rejects.toThrow('second factor')
    server.options.asksForSecondFactor = false
    server.overrides.set('/api/applications/', () => Response.json({ detail: 'none' }))
    await expect(baseImports.inspect.mutate({ from: account() })).rejects.toThrow(
      'not as its API documents it',
    )
    server.overrides.clear()
  })

  test('rejects private addresses unless they are allowed', async () => {
    const guarded = await createTestApp()
    const user = await guarded.signUp()
    const asked = server.requests.length
    await expect(guarded.trpc(user.token).baseImports.inspect.mutate({ from: byToken() })).rejects.toThrow(
      'private',
    )
    expect(server.requests.length).toBe(asked)
    await guarded.stop()
  })

  test('brings fields of all types with their values', async () => {
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    expect(rows.length).toBe(SIZE)
    const { Files, Customers, Also, ...first } = rows[0]!
    expect(first).toMatchObject({
      Ref: 'R0',
      Notes: '**bold**',
      Total: 0,
      Share: 50,
      Stars: 3,
      Done: true,
      Due: '2024-02-29',
      At: '2024-03-05 08:20:30+00:00',
      Took: 90_000,
      State: 'paid, late',
      Tags: 'a; b,c',
      Phone: '+49 30 1',
      Site: 'https://example.com',
      Mail: 'a@example.com',
      Team: owner.id,
      Key: '018f2b6e-0000-7000-8000-000000000000',
      Serial: 1,
      Summary: 'A summary',
      Made: '2024-03-05 08:20:30+00:00',
      'Made by': owner.id,
      Changed: '2024-03-06',
    })
    expect(JSON.parse(String(Files))).toMatchObject([{ title: 'a.txt', size: 5 }])
    expect(titlesIn(Customers)).toEqual(['Ann'])
    expect(titlesIn(Also)).toEqual(['Ann', 'Bo'])
    const field = (title: string) => schema.fields.find((one) => one.title === title)!
    expect(field('Notes').options).toMatchObject({ rich: true })
    expect(field('Total').options).toMatchObject({ code: 'EUR', precision: 2 })
    expect(field('Share').type).toBe('Percent')
    expect(field('Stars').options).toMatchObject({ max: 4, icon: 'heart' })
    expect(field('Due').options).toMatchObject({ format: 'DD/MM/YYYY' })
    expect(field('At').options).toMatchObject({ time12h: true, timeZone: 'Europe/Berlin' })
    const { choices } = field('State').options as { choices: { color: string }[] }
    expect(choices.map(({ color }) => color)).toEqual(['#cfdfff', '#f82b60'])
    const people = await recordsOf(app, owner, done.baseId!, 'Customers')
    expect(people.rows.map(({ Budget }) => Budget)).toEqual([2.5, 2.5])
    expect(titlesIn(people.rows[0]!.Orders).slice(0, 2)).toEqual(['R0', 'R2'])
  })

  test('computes lookups, rollups and formulas here, and keeps the values of the others', async () => {
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const typesIn = (fields: typeof schema.fields, titles: string[]) =>
      titles.map((title) => fields.find((one) => one.title === title)?.type)
    const computed = ['Names', 'Twice', 'Label', 'Joined', 'Big', 'Whose']
    expect(typesIn(schema.fields, computed)).toEqual([
      'Lookup',
      'Formula',
      'Formula',
      'Formula',
      'Formula',
      'Formula',
    ])
    expect(typesIn(schema.fields, ['Row', 'Wrong', 'Broken'])).toEqual([
      'Number',
      'Decimal',
      'SingleLineText',
    ])
    expect(typesIn(schema.fields, ['Made'])).toEqual(['CreatedTime'])
    expect(rows[0]).toMatchObject({ Label: 'R0-paid, late', Joined: 'R0!R0', Row: 1 })
    expect(rows[201]).toMatchObject({ Twice: 100.5, Big: 'big' })
    expect(rows[3]).toMatchObject({ Wrong: 99 })
    const people = await recordsOf(app, owner, done.baseId!, 'Customers')
    const kinds = typesIn(people.schema.fields, ['Sum', 'Number', 'Most', 'Spread'])
    expect(kinds).toEqual(['Rollup', 'Count', 'Rollup', 'Decimal'])
    expect(people.rows[0]).toMatchObject({ Number: SIZE / 2, Spread: 1.25, Most: (SIZE - 2) / 4 })
    const inner = ['Span', 'Size', 'Odd', 'Orders Total (max)', 'Orders Total (min)', 'Orders Total (sum)']
    expect(typesIn(people.schema.fields, inner)).toEqual([
      'Formula',
      'Formula',
      'Decimal',
      'Rollup',
      'Rollup',
      'Rollup',
    ])
    expect(people.rows[1]).toMatchObject({ Span: (SIZE - 2) / 4 + 2.5, Size: 'sum(lookup(', Odd: 7.25 })
    const lists = ['Refs', 'All', 'Back', 'Orders Ref (list)']
    expect(typesIn(people.schema.fields, lists)).toEqual(['Formula', 'Formula', 'SingleLineText', 'Lookup'])
    expect(String(people.rows[1]!.All)).toStartWith("join(lookup('Orders', 'Ref')): R1; R3; R5")
    expect(String(people.rows[1]!.Back)).toEndWith('-R5-R3-R1')
    expect(done.counts.verified).toBe(7 * SIZE + 7 * 2)
    // No view shows the fields that only formulas need.
    const idOf = (title: string) => people.schema.fields.find((one) => one.title === title)!.id
    expect(people.schema.views.length).toBeGreaterThan(0)
    for (const { fields } of people.schema.views)
      for (const title of ['Orders Ref (list)', 'Orders Total (max)', 'Orders Total (sum)'])
        expect([title, fields.find(({ fieldId }) => fieldId === idOf(title))?.show]).toEqual([title, false])
  })

  test('brings views with filters, sorts, groups, colours, widths and options', async () => {
    const { schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const id = (title: string) => schema.fields.find((one) => one.title === title)!.id
    const view = (title: string) => schema.views.find((one) => one.title === title)!
    expect(schema.views.map(({ title, kind }) => [title, kind])).toEqual([
      ['All', 'grid'],
      ['Open', 'grid'],
      ['Off', 'grid'],
      ['Board', 'kanban'],
      ['Days', 'calendar'],
      ['New order', 'form'],
      ['Plan', 'grid'],
    ])
    expect(view('Open')).toMatchObject({
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
      coloring: { mode: 'select', fieldId: id('State'), isBackground: false },
    })
    expect(view('Open').fields.find(({ fieldId }) => fieldId === id('Total'))).toMatchObject({ width: 222 })
    expect(view('Open').fields.find(({ fieldId }) => fieldId === id('Notes'))).toMatchObject({ show: false })
    expect(view('Off')).toMatchObject({
      filter: null,
      coloring: {
        mode: 'filter',
        rules: [
          {
            color: '#d1f7c4',
            isBackground: true,
            filter: { children: [{ fieldId: id('Total'), operator: 'gt', value: '5' }] },
          },
        ],
      },
    })
    expect(view('Board').options).toMatchObject({ stackFieldId: id('State'), coverFieldId: id('Files') })
    expect(view('Days').options).toMatchObject({ ranges: [{ fromFieldId: id('Due') }] })
  })

  test('brings comments with their authors, mentions and times', async () => {
    const { rows, table } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const { comments } = await app
      .trpc(owner.token)
      .comments.list.query({ tableId: table.id, recordId: Number(rows[1]!.$id) })
    expect(comments.map(({ text: shown, createdBy, authorName }) => [shown, createdBy, authorName])).toEqual([
      ['Ask @Gone!\nNow', owner.id, null],
      ['plain', owner.id, 'Former'],
    ])
    // The counts of a grid without filters spare a request for each row.
    const asked = server.requests.filter((path) => path.startsWith('/api/row_comments/2/'))
    expect(new Set(asked.map((path) => path.split('/')[4]))).toEqual(new Set(['2']))
  })

  test('reports everything that was not imported as it was', async () => {
    const lines = await app.trpc(owner.token).baseImports.report.query({ importId: done.id })
    const reasonsOf = (title: string) =>
      lines
        .filter(({ fieldTitle, viewTitle }) => [fieldTitle, viewTitle].includes(title))
        .map(({ reason }) => reason)
        .join(' | ')
    const notes = lines.filter(({ kind, tableTitle }) => kind === 'note' && tableTitle === null)
    expect(notes.map(({ reason }) => reason)).toEqual([expect.stringContaining('automations')])
    expect(reasonsOf('Strange')).toContain('hologram')
    expect(reasonsOf('Secret')).toContain('passwords')
    expect(reasonsOf('Elsewhere')).toContain('linked table')
    expect(reasonsOf('Budget')).toContain('kg')
    expect(reasonsOf('Fee')).toContain('SEK is shown')
    expect(reasonsOf('Took')).toContain('d h:mm')
    expect(reasonsOf('Spread')).toContain('stddev_pop')
    expect(reasonsOf('Row')).toContain('RECORD_ID')
    expect(reasonsOf('Broken')).toContain('invalid')
    expect(reasonsOf('Nested')).toContain('too long')
    expect(reasonsOf('Chain')).toContain('too long')
    expect(reasonsOf('Wrong')).toContain(`1 of ${SIZE} values differ`)
    const missed = lines.filter(({ reason }) => reason.includes('member of the base'))
    expect(missed.map(({ value, reason }) => [value, /\((.*)\)/.exec(reason)?.[1]])).toEqual([
      ['gone@example.com', 'Orders: Team'],
    ])
    expect(reasonsOf('Plan')).toContain('timeline')
    expect(reasonsOf('Open')).toContain('condition')
    expect(reasonsOf('Off')).toContain('switched off')
    for (const title of [
      'Ref',
      'Total',
      'Share',
      'Due',
      'Customers',
      'Twice',
      'Label',
      'Sum',
      'Board',
      'All',
    ])
      expect([title, reasonsOf(title)]).toEqual([title, ''])
  })

  test('gives its records and its report through REST', async () => {
    const headers = { 'xc-auth': owner.token }
    const { table } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const page = await fetch(`${app.url}/api/v2/tables/${table.id}/records?limit=1&offset=7`, { headers })
    expect((await page.json()) as object).toMatchObject({
      list: [{ Ref: 'R7', Twice: 3.5, Joined: 'R7!R7' }],
    })
    const csv = await fetch(`${app.url}/api/internal/base-imports/${done.id}/report`, { headers })
    expect(await csv.text()).toContain('"skipped","Orders","Strange"')
  })

  test('brings tables, fields and records by a database token, and says what it does not', async () => {
    const { baseImports } = app.trpc(owner.token)
    const [base] = await baseImports.inspect.mutate({ from: byToken() })
    expect(base).toEqual({ id: '5', title: 'Database 5 (Customers, Orders)' })
    const { id } = await baseImports.begin.mutate(importFrom(byToken(), '5'))
    const other = await settled(app, owner, id)
    expect(other).toMatchObject({ status: 'completed', counts: { comments: 0, views: 0 } })
    expect((await recordsOf(app, owner, other.baseId!, 'Orders')).rows.length).toBe(SIZE)
    const lines = await baseImports.report.query({ importId: id })
    expect(
      lines.filter(({ tableTitle }) => tableTitle === null).map(({ kind, reason }) => [kind, reason]),
    ).toEqual(
      expect.arrayContaining([
        ['note', expect.stringContaining('database token')],
        ['skipped', expect.stringContaining('does not give the e-mail address')],
      ]),
    )
  })

  test('brings the changes of a second run, also from an edition without comments', async () => {
    server.options.hasComments = false
    orders.rows[1] = { ...orders.rows[1]!, field_22: '50.00', field_50: '100.00', field_55: '51.00' }
    const removed = orders.rows.pop()!
    const left = Array.from({ length: SIZE }, (_, at) => at).filter((at) => at % 2 === 1 && at !== SIZE - 1)
    const totals = left.map((at) => (at === 1 ? 50 : at / 4))
    customers.rows[1] = {
      ...customers.rows[1]!,
      field_12: left.map((at) => ({ id: at + 1, value: `R${at}` })),
      field_13: String(totals.reduce((sum, one) => sum + one, 0)),
      field_14: left.length,
      field_16: String(Math.max(...totals)),
    }
    // The page that comes next is gone: the table is read again.
    const path = '/api/database/rows/table/2/'
    server.overrides.set(path, ({ searchParams }) => {
      if (searchParams.get('page') !== '2') return null
      server.overrides.delete(path)
      return Response.json({ error: 'ERROR_INVALID_PAGE' }, { status: 400 })
    })
    const { baseImports } = app.trpc(owner.token)
    await baseImports.again.mutate({ importId: done.id, removeMissing: true })
    const second = await settled(app, owner, done.id)
    expect(second).toMatchObject({ status: 'completed', error: null, run: 2 })
    expect(second.tables[1]).toMatchObject({ read: SIZE - 1, added: 0, removed: 1 })
    expect(server.overrides.size).toBe(0)
    const { rows } = await recordsOf(app, owner, done.baseId!, 'Orders')
    expect(rows.length).toBe(SIZE - 1)
    expect(rows.some(({ Ref }) => Ref === removed.field_20)).toBe(false)
    expect(rows[1]).toMatchObject({ Total: 50, Twice: 100 })
    const lines = await baseImports.report.query({ importId: done.id })
    expect(lines.map(({ reason }) => reason)).toContain('These credentials give no access to comments')
    const { schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const { comments } = await app
      .trpc(owner.token)
      .comments.list.query({ tableId: schema.table.id, recordId: Number(rows[1]!.$id) })
    expect(comments.length).toBeGreaterThan(0)
  })
})
